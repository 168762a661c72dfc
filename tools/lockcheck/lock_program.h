// LockProgram: agents that use one lock, as a program for the explorer.
//
// *What.* Each agent acquires the lock so many times. A writer adds one to a record by a load and
// a posted store, which only the lock makes whole; a reader loads it twice. Checked: L1 exclusion
// as it happens; L3 and no lost update by the record; L4 by the token; that everybody ends.
// *Thread safety.* None, as the explorer.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "keyway/locks/base/topology.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/distributed/queue_node.h"
#include "keyway/locks/fabric/segment.h"
#include "keyway/locks/fabric/sim/explorer.h"
#include "keyway/locks/fabric/sim/sim_endpoint.h"

namespace keyway::lockcheck {

struct LockShape {
  std::uint32_t readers = 0;  // agents 0 .. readers - 1; the others write
  std::uint32_t writers = 3;
  std::uint32_t rounds = 1;  // acquires of each agent
  std::uint32_t ranks = 2;   // agent i lives at rank i % ranks; the lock at rank 0

  std::uint32_t agents() const { return readers + writers; }
};

template <class L>
class LockProgram final : public fabric::sim::Program {
 public:
  using E = fabric::SimEndpoint;

  LockProgram(L lock, const LockShape& shape)
      : lock_(std::move(lock)), shape_(shape), topology_(one_node_each(shape.ranks)) {
    fabric::SegmentLayout layout;
    group_ = layout.reserve(locks::kLockLineBytes);
    line_ = layout.reserve(locks::kLockLineBytes);
    record_ = layout.reserve(fabric::kCacheLine);
    const std::uint32_t per_rank = (shape.agents() + shape.ranks - 1) / shape.ranks;
    nodes_ = locks::NodeRegion::reserve(layout, per_rank, 2);
    segment_bytes_ = layout.size();
  }
  /// Once, before anything runs.
  void attach(fabric::sim::Explorer& explorer) { explorer_ = &explorer; }

  std::uint32_t agents() const override { return shape_.agents(); }
  std::uint32_t ranks() const override { return shape_.ranks; }
  std::uint64_t segment_bytes() const override { return segment_bytes_; }

  void reset(fabric::sim::Engine& engine) override {
    agents_.clear();
    endpoints_.clear();
    readers_inside_ = writers_inside_ = 0;
    for (std::uint32_t i = 0; i < agents(); ++i) {
      const fabric::AgentId id{i % shape_.ranks, i / shape_.ranks};
      endpoints_.push_back(std::make_unique<E>(engine, i, id, topology_));
      agents_.push_back(std::make_unique<locks::LockAgent<E>>(*endpoints_[i], nodes_));
    }
  }

  void run(std::uint32_t i) override {
    const auto mode = i < shape_.readers ? locks::Mode::kRead : locks::Mode::kWrite;
    for (std::uint32_t round = 0; round < shape_.rounds; ++round) {
      auto grant = lock_.acquire(*agents_[i], site(), mode, Deadline::never());
      if (!grant.ok()) explorer_->fail(i, std::string(grant.status().message()));
      if (mode == locks::Mode::kRead && lock_.traits().readers_share) {
        visit_shared(i);
      } else {
        visit_alone(i);
      }
      lock_.release(*agents_[i], site(), *grant);
    }
  }

  std::string verdict() override {
    E& ep = *endpoints_[0];
    const bool share = lock_.traits().readers_share;
    const std::uint64_t alone =
        std::uint64_t{shape_.rounds} * (share ? shape_.writers : shape_.agents());
    const std::uint64_t record = ep.load(fabric::rma, at(record_));
    if (record != alone) {
      return fmt::format("L3: {} exclusive visits left the record at {}: updates were lost", alone,
                         record);
    }
    const std::uint64_t token = ep.load(fabric::rma, at(line_) + locks::kTokenOffset);
    if (token != alone) return fmt::format("L4: {} exclusive grants, token {}", alone, token);
    auto again = lock_.try_acquire(*agents_[0], site(), locks::Mode::kWrite);
    if (!again.ok()) return "L2: all have gone and the lock is not free";
    lock_.release(*agents_[0], site(), *again);
    return {};
  }

  std::string name(fabric::Address a) const override {
    if (a.offset() >= nodes_.offset) {
      const fabric::AgentId owner = nodes_.owner(a);
      const std::uint64_t in_node = (a.offset() - nodes_.offset) % locks::kNodeBytes;
      return fmt::format("agent {}'s node, {}", owner.slot * shape_.ranks + owner.rank,
                         in_node == locks::kNextOffset ? "next" : "status");
    }
    if (a.offset() >= record_) return "the record";
    if (a.offset() >= line_) return fmt::format("the lock, word {}", (a.offset() - line_) / 8);
    return "the group's word";
  }

 private:
  static Topology one_node_each(std::uint32_t ranks) {
    std::vector<std::uint32_t> nodes(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) nodes[rank] = rank;
    return Topology::from_nodes(nodes);
  }
  static fabric::Address at(std::uint64_t offset) { return {0, offset}; }
  locks::LockSite site() const { return {.line = at(line_), .group = at(group_)}; }

  void visit_alone(std::uint32_t i) {
    if (writers_inside_ + readers_inside_ > 0) {
      explorer_->fail(i, fmt::format("L1: agent {} was let in alone while others were inside", i));
    }
    ++writers_inside_;
    const std::uint64_t seen = endpoints_[i]->load(fabric::rma, at(record_));
    endpoints_[i]->post_store(fabric::rma, at(record_), seen + 1);
    --writers_inside_;
  }
  void visit_shared(std::uint32_t i) {
    if (writers_inside_ > 0) {
      explorer_->fail(i, fmt::format("L1: reader {} was let in while a writer was inside", i));
    }
    ++readers_inside_;
    const std::uint64_t first = endpoints_[i]->load(fabric::rma, at(record_));
    const std::uint64_t second = endpoints_[i]->load(fabric::rma, at(record_));
    --readers_inside_;
    if (first != second) {
      explorer_->fail(
          i, fmt::format("L1: the record went from {} to {} under reader {}", first, second, i));
    }
  }

  L lock_;
  LockShape shape_;
  Topology topology_;
  locks::NodeRegion nodes_;
  std::uint64_t group_ = 0;
  std::uint64_t line_ = 0;
  std::uint64_t record_ = 0;
  std::uint64_t segment_bytes_ = 0;
  fabric::sim::Explorer* explorer_ = nullptr;
  std::vector<std::unique_ptr<E>> endpoints_;
  std::vector<std::unique_ptr<locks::LockAgent<E>>> agents_;
  std::uint32_t readers_inside_ = 0;
  std::uint32_t writers_inside_ = 0;
};

}  // namespace keyway::lockcheck
