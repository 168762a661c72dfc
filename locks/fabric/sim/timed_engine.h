// TimedEngine: virtual time. Operations happen when a machine's costs say, and in that order.
//
// *What.* Agents are fibers; the one with the earliest event goes on. Nothing but the seed and the
// program decides anything, so a run is the same on every host, build and day.
// *Waiting* costs nothing until the word changes; then the poll's time passes and the predicate is
// looked at. A wait for another node's word polls it through the network.
// *Thread safety.* None: one thread simulates.
#pragma once

#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/base/topology.h"
#include "keyway/locks/fabric/fiber_context.h"
#include "keyway/locks/fabric/sim/engine.h"
#include "keyway/locks/fabric/sim/machine.h"

namespace keyway::fabric::sim {

/// Operations by what they do.
struct OperationCounts {
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  std::uint64_t atomics = 0;
  std::uint64_t reads = 0;   // bulk
  std::uint64_t writes = 0;  // bulk
  std::uint64_t bytes = 0;   // of the bulk ones

  std::uint64_t operations() const { return loads + stores + atomics + reads + writes; }
  void add(const Operation& op);
};

/// What has been simulated.
struct TimedStats {
  struct Level {
    std::string name;  // "machine", "rack", "node", "self"
    OperationCounts counts;
  };

  std::uint64_t events = 0;
  std::uint64_t served = 0;  // by target cards
  double waited_ns = 0;      // in front of target cards, in all
  std::uint64_t queue_pair_misses = 0;
  OperationCounts cpu;
  /// Of the rma class, by the finest level that origin and target share, coarsest first; the last
  /// is a rank with itself.
  std::vector<Level> rma;

  std::uint64_t operations() const;
};

class TimedEngine final : public Engine {
 public:
  /// `topology` outlives the engine.
  TimedEngine(Machine machine, const Topology& topology, std::uint64_t segment_bytes,
              std::uint64_t seed);

  /// Runs body(agent) for agents 0 .. homes.size() - 1 at once, agent i at rank homes[i], until all
  /// have returned. Virtual time goes on from where it was. Rethrows what left a body.
  void run(const std::vector<std::uint32_t>& homes, const std::function<void(std::uint32_t)>& body);
  /// From a running agent: lets `ns` of virtual time pass.
  void spend(std::uint32_t agent, double ns);

  double time_ns() const { return now_; }
  const TimedStats& stats() const { return stats_; }
  const Machine& machine() const { return machine_; }

  std::uint64_t perform(std::uint32_t agent, const Operation& op) override;
  void post(std::uint32_t agent, const Operation& op, ResultSlot* result) override;
  void flush(std::uint32_t agent, std::uint32_t rank) override;
  WaitResult wait(std::uint32_t agent, Address word, PredicateRef predicate,
                  Deadline deadline) override;
  WaitResult wait_remote(std::uint32_t agent, Address word, PredicateRef predicate,
                         BackoffSteps& steps, Deadline deadline) override;
  bool one_class() const override { return one_class_; }
  void attempt_begins(std::uint32_t) override {}
  void attempt_succeeded(std::uint32_t) override {}
  bool attempt_failed(std::uint32_t agent, std::uint64_t wait_ns, Deadline deadline) override;
  std::uint64_t now_ns(std::uint32_t) const override { return static_cast<std::uint64_t>(now_); }

 private:
  enum class What : std::uint8_t { kArrive, kHappen, kReturn, kResume, kLook };
  static constexpr std::uint32_t kNothing = ~0u;

  // An operation on its way; lives in flights_ until it has returned.
  struct Flight {
    Operation op;
    std::uint32_t agent = 0;
    ResultSlot* result = nullptr;
    std::uint64_t value = 0;
    bool posted = false;
  };
  struct Event {
    double at = 0;
    std::uint64_t order = 0;  // of two events of one time the one made first comes first
    What what = What::kResume;
    std::uint32_t subject = 0;  // a flight, or an agent
    std::uint64_t stay = 0;     // of an agent: void when the agent has gone on since
    bool operator>(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  struct Agent {
    std::unique_ptr<FiberContext> fiber;
    std::uint32_t home = 0;
    std::uint64_t stay = 0;  // raised whenever it goes on
    std::uint64_t answer = 0;
    std::vector<std::uint32_t> outstanding;  // posted operations by target rank
    std::uint32_t flushed = kNothing;
    PredicateRef predicate;
    Address watched;
    std::uint64_t until_ns = 0;
    bool expired = false;
  };

  void schedule(double at, What what, std::uint32_t subject, std::uint64_t stay = 0);
  void handle(const Event& event);
  void go_on(Agent& agent);
  void stop(Agent& agent) { agent.fiber->suspend(); }
  std::uint32_t launch(std::uint32_t agent, const Operation& op, ResultSlot* result, bool posted);
  void arrive(std::uint32_t flight);
  void happen(std::uint32_t flight);
  void finish(std::uint32_t flight);
  void look(std::uint32_t agent);
  void watch_ends(std::uint32_t agent);
  std::uint64_t apply(const Operation& op);
  std::size_t level_of(std::uint32_t a, std::uint32_t b) const;
  const Path& path_of(std::uint32_t a, std::uint32_t b) const;
  const Card& card_of(std::uint32_t a, std::uint32_t b) const;
  std::uint32_t node_of(std::uint32_t rank) const;
  Agent& caller(std::uint32_t number);
  double service_ns(const Card& card, const Operation& op);
  double cpu_ns(const Operation& op) const;
  bool is_local(const Agent& agent, std::uint32_t rank) const {
    return topology_.same_node(agent.home, rank);
  }

  Machine machine_;
  const Topology& topology_;
  Rng rng_;
  double now_ = 0;
  std::uint64_t order_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_flights_;
  std::vector<double> issue_free_;    // when each node's card can issue again
  std::vector<double> service_free_;  // when each node's card can serve again
  std::vector<Agent> agents_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> watchers_;  // by address
  TimedStats stats_;
  bool one_class_ = false;
  bool running_ = false;
  std::uint32_t current_ = kNothing;  // the agent that runs
};

}  // namespace keyway::fabric::sim
