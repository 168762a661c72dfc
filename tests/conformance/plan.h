// The agents of a check, and the places of its words in every rank's segment.
#pragma once

#include <cstdint>

#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/queue_node.h"
#include "keyway/locks/distributed/satellite.h"
#include "keyway/locks/fabric/segment.h"

namespace keyway::conformance {

struct Shape {
  std::uint32_t agents = 4;  // agent i lives at rank i % ranks
  std::uint32_t locks = 1;   // lock k lives at rank k % ranks
  std::uint32_t nodes_per_agent = 32;
  std::uint32_t ranks = 3;  // a wish; the mpi world has as many as it was started with
};

/// Words of the board, at rank 0: how the agents of a check talk to each other.
inline constexpr std::uint32_t kBoardWords = 128;
inline constexpr std::uint32_t kFailedWord = 0;
inline constexpr std::uint32_t kBarrierWord = 1;
inline constexpr std::uint32_t kIdWords = 8;     // AgentId::word() of agent i at kIdWords + i
inline constexpr std::uint32_t kFreeWords = 64;  // from here on a check's own

struct Plan {
  std::uint32_t ranks = 1;
  std::uint32_t agents_per_rank = 1;
  std::uint64_t group = 0;       // the lock group's line, at the last rank
  std::uint64_t lines = 0;       // lock lines
  std::uint64_t records = 0;     // the record of each lock: one line, see record.h
  std::uint64_t satellites = 0;  // for every lock, on every rank
  std::uint64_t board = 0;
  locks::NodeRegion nodes;
  std::uint64_t segment_bytes = 0;

  static Plan of(const Shape& shape, std::uint32_t ranks) {
    fabric::SegmentLayout layout;
    Plan plan;
    plan.ranks = ranks;
    plan.agents_per_rank = (shape.agents + ranks - 1) / ranks;
    plan.group = layout.reserve(locks::kLockLineBytes);
    plan.lines = layout.reserve(locks::kLockLineBytes * shape.locks);
    plan.records = layout.reserve(fabric::kCacheLine * shape.locks);
    plan.satellites = layout.reserve(locks::kMaxSatelliteBytes * shape.locks);
    plan.board = layout.reserve(kBoardWords * 8);
    plan.nodes = locks::NodeRegion::reserve(layout, plan.agents_per_rank, shape.nodes_per_agent);
    plan.segment_bytes = layout.size();
    return plan;
  }

  locks::LockSite site(std::uint32_t lock) const {
    return {.line = {lock % ranks, lines + lock * locks::kLockLineBytes},
            .group = group_line(),
            .satellites = satellites + lock * locks::kMaxSatelliteBytes};
  }
  fabric::Address group_line() const { return {ranks - 1, group}; }
  fabric::Address record(std::uint32_t lock) const {
    return {lock % ranks, records + lock * fabric::kCacheLine};
  }
};

}  // namespace keyway::conformance
