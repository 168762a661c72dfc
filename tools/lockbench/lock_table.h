// LockTable: the places of a run's locks and of the records that they guard.
//
// *What.* Locks lie `stride` ranks apart, from rank `home` on; after each round they shift by one
// rank. Each has a record beside it: words that its holders read and write by plain operations.
// Every rank's segment has the same layout.
// *Thread safety.* Immutable.
#pragma once

#include <cstdint>

#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/queue_node.h"
#include "keyway/locks/distributed/satellite.h"
#include "keyway/locks/fabric/segment.h"
#include "plan.h"

namespace keyway::lockbench {

/// Words of a record. The first three are written by exclusive holders only.
inline constexpr std::uint64_t kCounterOffset = 0;  // exclusive visits that were to be counted
inline constexpr std::uint64_t kFirstOffset = 8;    // these two are equal whenever no writer is
inline constexpr std::uint64_t kSecondOffset = 16;  //   inside
inline constexpr std::uint64_t kTouchedOffset = 24;

class LockTable {
 public:
  /// An agent holds one lock at a time, for which it needs at most a node per level; more for the
  /// acquires that it gave up, and for nodes that it has delegated.
  static constexpr std::uint32_t kNodesPerAgent = 4 * Topology::kMaxLevels;

  explicit LockTable(const Plan& plan)
      : ranks_(plan.ranks),
        home_(plan.options.home),
        stride_(plan.options.stride),
        locks_(plan.locks) {
    group_ = layout_.reserve(locks::kLockLineBytes);
    const std::uint64_t on_each = (plan.locks + plan.ranks - 1) / plan.ranks;
    first_ = layout_.reserve(on_each * kBytes);
    satellites_ = layout_.reserve(plan.locks * locks::kMaxSatelliteBytes);
    if (plan.has_volume()) volume_ = layout_.reserve(plan.volume.bytes());
    nodes_ = locks::NodeRegion::reserve(layout_, agents_per_rank(plan), kNodesPerAgent);
  }
  /// One more than in the plan: the agent that checks the table after all have ended.
  static std::uint32_t agents_per_rank(const Plan& plan) { return plan.threads + 1; }

  std::uint32_t size() const { return locks_; }
  /// As the stride divides the ranks, each `ranks` consecutive locks have a rank of their own.
  std::uint32_t home(std::uint32_t k) const {
    const std::uint64_t walked = std::uint64_t{k} * stride_;
    return static_cast<std::uint32_t>((home_ + walked + walked / ranks_) % ranks_);
  }
  locks::LockSite site(std::uint32_t k) const {
    return {.line = {home(k), offset(k)},
            .group = {home_, group_},
            .satellites = satellites_ + k * locks::kMaxSatelliteBytes};
  }
  fabric::Address record(std::uint32_t k) const {
    return {home(k), offset(k) + locks::kLockLineBytes};
  }
  /// The volume of bench dht.
  fabric::Address volume() const { return {home_, volume_}; }
  const locks::NodeRegion& nodes() const { return nodes_; }
  std::uint64_t segment_bytes() const { return layout_.size(); }

 private:
  static constexpr std::uint64_t kBytes = locks::kLockLineBytes + fabric::kCacheLine;

  std::uint64_t offset(std::uint32_t k) const { return first_ + k / ranks_ * kBytes; }

  fabric::SegmentLayout layout_;
  std::uint32_t ranks_;
  std::uint32_t home_;
  std::uint32_t stride_;
  std::uint32_t locks_;
  std::uint64_t group_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t satellites_ = 0;
  std::uint64_t volume_ = 0;
  locks::NodeRegion nodes_;
};

}  // namespace keyway::lockbench
