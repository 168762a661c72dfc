// LockDraw: which lock of the table an agent takes next.
//
// *What.* Uniformly among all; or, with a locality, that share among the locks on the agent's own
// node and the rest among the others. `draws=own`: each agent draws for itself. `draws=published`:
// as in the benchmark that the authors of SPAA'24 published (github.com/sss-lehigh/alock, setup.h,
// createOpStream), which differs: all agents draw the same numbers, and a number modulo 100 decides
// whether the lock is local, while the number itself selects the lock. So the agents of a node take
// the same locks in the same order; with 20 locks every lock is local, with any locality; with 100
// or more, remote accesses meet at few of the locks.
// *Thread safety.* Belongs to its agent.
// *Source.* SPAA'24 section 6; its definition 4.1: local is what lies on the agent's own node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/base/topology.h"
#include "lock_table.h"
#include "plan.h"

namespace keyway::lockbench {

class LockDraw {
 public:
  LockDraw(const Plan& plan, const LockTable& table, const Topology& topology, std::uint32_t rank)
      : locality_(plan.options.locality),
        published_(plan.options.draws == "published"),
        locks_(table.size()),
        shared_(plan.options.seed) {
    if (!published_ && !locality_) return;
    sort_by_place(table, topology, rank);
  }

  /// `own` is the agent's own generator.
  std::uint32_t next(Rng& own) {
    if (published_) return next_published();
    if (near_.empty() || far_.empty()) return static_cast<std::uint32_t>(own.below(locks_));
    const auto& among = own.unit() < *locality_ ? near_ : far_;
    return among[own.below(among.size())];
  }

 private:
  void sort_by_place(const LockTable& table, const Topology& topology, std::uint32_t rank) {
    for (std::uint32_t k = 0; k < locks_; ++k) {
      const bool near = topology.same_node(rank, table.home(k));
      (near ? near_ : far_).push_back(k);
      by_node_.push_back({k, near});
    }
    if (!published_) return;
    // Keys are given to nodes in runs; ranks of a node are consecutive.
    const std::uint32_t nodes = topology.level_named("node");
    const auto node = [&](const Place& place) {
      return nodes == 0 ? 0 : topology.element(table.home(place.lock), nodes);
    };
    std::stable_sort(by_node_.begin(), by_node_.end(),
                     [&](const Place& a, const Place& b) { return node(a) < node(b); });
  }

  std::uint32_t next_published() {
    std::uint64_t number = shared_.below(locks_);
    if (!locality_ || near_.empty()) return by_node_[number].lock;
    if (far_.empty() || static_cast<double>(number % 100) < *locality_ * 100) {
      return near_[number % near_.size()];
    }
    while (by_node_[number].near) number = shared_.below(locks_);
    return by_node_[number].lock;
  }

  struct Place {
    std::uint32_t lock;
    bool near;
  };

  std::optional<double> locality_;
  bool published_;
  std::uint32_t locks_;
  Rng shared_;  // the same in all agents
  std::vector<std::uint32_t> near_;
  std::vector<std::uint32_t> far_;
  std::vector<Place> by_node_;
};

}  // namespace keyway::lockbench
