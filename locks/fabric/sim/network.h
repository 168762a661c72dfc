// Network: when operations of the `rma` class reach their target, are served there, and are back.
//
// *What.* One card per node, shared by the node's ranks. A card has three lines, each of which
// takes one operation after another: it sends operations of the node's agents, serves operations on
// the node's memory, and receives the bytes of bulk reads by the node's agents. Between two nodes
// is the path of the level that they share; an operation on the agent's own node goes through both
// lines of the node's own card, with separate costs. Bulk bytes stream: they occupy sender and
// receiver at the same time, at the pace of the slowest. A card keeps the state of the queue pairs
// (agent and target rank; each end is one) that it used last; fetching another state keeps it busy
// for longer. So may operations that wait in front of it.
// *Thread safety.* None.
// *Invariants.* N1: each line of a card serves in the order of arrival. N2: with `ordered`, the
// operations of one queue pair arrive in the order in which they were sent.
// *Source.* LogGP (Alexandrov et al., SPAA'95) with a queue in front of every card.
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/base/topology.h"
#include "keyway/locks/fabric/sim/machine.h"
#include "keyway/locks/fabric/sim/operation.h"
#include "keyway/locks/fabric/sim/timed_stats.h"
#include "keyway/locks/fabric/sim/virtual_time.h"

namespace keyway::fabric::sim {

/// A set of limited size that forgets what was touched longest ago.
class LruSet {
 public:
  explicit LruSet(std::uint32_t most) : most_(most) {}
  /// Whether `key` was in the set; it is now.
  bool touch(std::uint64_t key);

 private:
  std::uint32_t most_;
  std::list<std::uint64_t> latest_first_;
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> where_;
};

class Network {
 public:
  /// `topology` and `stats` outlive the network; it counts what it serves in `stats`.
  Network(const Machine& machine, const Topology& topology, std::uint64_t seed, TimedStats& stats);

  struct Trip {
    std::uint32_t agent;
    std::uint32_t from;  // the agent's rank
    const Operation& op;
  };
  struct Service {
    Picos reads;  // when an atomic's read is made; its write is at the end
    Picos ends;   // when the operation takes effect
  };

  /// The agent issues the operation now: when it reaches its target's card.
  Picos send(const Trip& trip, Picos now);
  /// It has reached that card: when it is served. To be called in the order of arrival.
  Service serve(const Trip& trip, Picos now);
  /// It has been served: when its answer reaches the origin's card.
  Picos answer(const Trip& trip, Picos now);
  /// The answer has reached that card: when the agent has it.
  Picos take_in(const Trip& trip, Picos now);

  /// The card of a rank; cards count from 0.
  std::uint32_t card_of(std::uint32_t rank) const { return node_of_[rank]; }
  std::uint32_t cards() const { return static_cast<std::uint32_t>(lines_.size()); }

 private:
  // The costs of an operation on its path.
  struct Way {
    Way(const Path& path, const Card& card);
    Picos latency;
    Picos issue;
    Picos atomic;
    Picos read;
    Picos write;
    Picos crowding;
    ByteCost bytes;
  };
  // When each line of a card is free again.
  struct Lines {
    Picos send = 0;
    Picos serve = 0;
    Picos take_in = 0;
    std::uint32_t waiting = 0;  // in front of `serve`, with the one that is served
  };
  enum class End : std::uint8_t { kOrigin, kTarget };

  const Way& way_of(const Trip& trip) const;
  Picos service(const Way& way, const Operation& op);
  Picos missed(std::uint32_t card, const Trip& trip, End end);
  Picos delayed(const Trip& trip, Picos arrival);

  TimedStats& stats_;
  Way machine_;
  Way rack_;
  Way loopback_;
  Picos gap_;
  Picos miss_;
  Picos most_jitter_;
  Picos mean_jitter_;
  bool ordered_;
  bool random_service_;
  Rng service_rng_;
  Rng jitter_rng_;
  std::vector<std::uint32_t> node_of_;                      // by rank
  std::vector<std::uint32_t> rack_of_;                      // by rank; empty without racks
  std::vector<Lines> lines_;                                // by card
  std::vector<LruSet> queue_pairs_;                         // by card; empty when it keeps none
  std::unordered_map<std::uint64_t, Picos> last_arrivals_;  // by queue pair; for N2
};

}  // namespace keyway::fabric::sim
