// CounterMap: the ranks that have a physical counter of an RMA-RW lock, and each rank's own
// counter.
//
// *What.* CounterPlacement is the lever; counter_map() computes from the topology. An agent keeps
// the maps that it has used (CounterMaps), so that an acquire computes nothing, and allocates only
// the first time.
// *Thread safety.* A CounterMaps belongs to one agent.
// *Invariants.*
//   P1  Every rank's own counter is one of the map's, and every counter is some rank's own.
//   P2  A counter lies on a rank that uses it; one of per-node placement on each user's node.
// *Source.* HPDC'16 section 3.2.1: one counter every T_DC-th process, or topology-aware; section
// 5.2.1 and 6: one per node is the balance that the paper found, so it is the default here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "keyway/locks/base/status.h"
#include "keyway/locks/base/topology.h"
#include "keyway/locks/distributed/lock_params.h"

namespace keyway::locks {

struct CounterPlacement {
  enum class Rule : std::uint32_t {
    kPerNode,     // `count` counters on each node, its ranks divided evenly among them
    kEveryNodes,  // a counter for each `count` nodes in a row
    kEveryRanks,  // a counter at every `count`-th rank, regardless of nodes: the paper's T_DC
  };
  Rule rule = Rule::kPerNode;
  std::uint32_t count = 1;

  bool operator==(const CounterPlacement&) const = default;
};

/// Reads the counter placement from a lock's parameters.
Result<CounterPlacement> take_placement(LockParams& params);

/// The rank of each rank's counter.
std::vector<std::uint32_t> counter_of_ranks(const CounterPlacement& placement,
                                            const Topology& topology);

/// The map as one rank sees it, with a writer's notes on each counter.
struct CounterMap {
  /// A writer's notes on a counter while it closes all of them.
  struct Slot {
    enum class State : std::uint8_t { kOpen, kClosing, kClosed };  // kClosing: readers inside
    State state = State::kOpen;
    std::uint64_t seen = 0;      // the word as last read
    std::uint64_t snapshot = 0;  // the word when it was closed; 0: it was empty, and has been reset
  };

  using Notes = std::vector<Slot>;  // one for each counter

  CounterPlacement placement;
  std::uint32_t own = 0;             // the rank of this rank's counter
  std::vector<std::uint32_t> ranks;  // all counters, ascending

  std::vector<Notes> spare;
  std::size_t most = 1;  // visits at the same time so far

  CounterMap(const CounterPlacement& by, const Topology& topology, std::uint32_t rank)
      : placement(by), ranks(counter_of_ranks(by, topology)) {
    own = ranks[rank];
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    spare.reserve(1);
    spare.emplace_back(ranks.size());
  }
  /// Notes for one visit. An agent that tries several locks at the same time (overlap.h) has
  /// several visits under way.
  Notes take() {
    if (spare.empty()) {
      spare.reserve(++most);
      return Notes(ranks.size());
    }
    Notes notes = std::move(spare.back());
    spare.pop_back();
    return notes;
  }
  void give(Notes notes) { spare.push_back(std::move(notes)); }
};

/// An agent's maps, one for each placement that it has used. Initially empty.
class CounterMaps {
 public:
  CounterMap& of(const CounterPlacement& placement, const Topology& topology, std::uint32_t rank) {
    if (last_ != nullptr && last_->placement == placement) return *last_;
    return find(placement, topology, rank);
  }

 private:
  [[gnu::noinline]] CounterMap& find(const CounterPlacement& placement, const Topology& topology,
                                     std::uint32_t rank) {
    const auto known = std::find_if(maps_.begin(), maps_.end(),
                                    [&](const auto& map) { return map->placement == placement; });
    if (known == maps_.end()) {
      maps_.push_back(std::make_unique<CounterMap>(placement, topology, rank));
      last_ = maps_.back().get();
    } else {
      last_ = known->get();
    }
    return *last_;
  }

  CounterMap* last_ = nullptr;
  std::vector<std::unique_ptr<CounterMap>> maps_;  // addresses stay valid as the list grows
};

}  // namespace keyway::locks
