// TimedEngine: virtual time. Operations happen when a machine's costs say, and in that order.
//
// *What.* Agents are fibers; the one with the earliest event continues. network.h (the `rma` class)
// and processors.h (the `cpu` class) compute the durations. Only the seed and the program determine
// a run, so it is the same on every host, build and day. An operation of the `rma` class takes
// effect when its target's card has served it. Its atomics read a little before they write, and a
// `cpu` access that comes between is lost or missed (E2). A coherent machine has one node instead
// of both, which decides everything (coherent_node.h).
// *Waiting* costs nothing until the word changes; then the predicate is looked at when the agent
// has seen the change. A wait for a remote word polls it through the network.
// *Thread safety.* None: one thread simulates.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "keyway/locks/base/topology.h"
#include "keyway/locks/fabric/fiber_context.h"
#include "keyway/locks/fabric/sim/coherent_node.h"
#include "keyway/locks/fabric/sim/engine.h"
#include "keyway/locks/fabric/sim/event_queue.h"
#include "keyway/locks/fabric/sim/machine.h"
#include "keyway/locks/fabric/sim/network.h"
#include "keyway/locks/fabric/sim/processors.h"
#include "keyway/locks/fabric/sim/timed_stats.h"
#include "keyway/locks/fabric/sim/virtual_time.h"
#include "keyway/locks/fabric/sim/watch_list.h"

namespace keyway::fabric::sim {

class TimedEngine final : public Engine, private CoherentNode::Host {
 public:
  /// `topology` outlives the engine.
  TimedEngine(Machine machine, const Topology& topology, std::uint64_t segment_bytes,
              std::uint64_t seed);

  /// Runs body(agent) for agents 0 .. homes.size() - 1 at once, agent i at rank homes[i], until all
  /// have returned and all their posted operations have happened. Virtual time continues. Rethrows
  /// an exception of a body.
  void run(const std::vector<std::uint32_t>& homes, const std::function<void(std::uint32_t)>& body);
  /// From a running agent: lets `ns` of virtual time pass.
  void spend(std::uint32_t agent, double ns);

  double time_ns() const { return ns_of(now_); }
  const TimedStats& stats() const { return stats_; }
  const Machine& machine() const { return machine_; }
  /// The node of a coherent machine, else null.
  const CoherentNode* node() const { return node_.get(); }

  std::uint64_t perform(std::uint32_t agent, const Operation& op) override;
  void post(std::uint32_t agent, const Operation& op, ResultSlot* result) override;
  void flush(std::uint32_t agent, std::uint32_t rank) override;
  void flush_all(std::uint32_t agent) override;
  void order(std::uint32_t agent, std::uint32_t rank) override;
  bool orders_by_flush() const override { return !machine_.semantics.ordered; }
  WaitResult wait(std::uint32_t agent, Address word, PredicateRef predicate,
                  Deadline deadline) override;
  WaitResult wait_remote(std::uint32_t agent, Address word, PredicateRef predicate,
                         BackoffSteps& steps, Deadline deadline) override;
  void attempt_begins(std::uint32_t) override {}
  void attempt_succeeded(std::uint32_t) override {}
  bool attempt_failed(std::uint32_t agent, std::uint64_t wait_ns, Deadline deadline) override;
  std::uint64_t now_ns(std::uint32_t) const override { return now_ / 1000; }
  std::uint64_t salt() const override { return seed_ ^ now_; }
  bool one_class() const override { return one_class_; }

 private:
  static constexpr std::uint32_t kNothing = ~0u;
  static constexpr std::uint32_t kEveryRank = ~0u - 1;

  // An operation of the `rma` class on its way; lives in flights_ until its agent has the answer.
  struct Flight {
    Operation op;
    std::uint32_t agent = 0;
    bool posted = false;
    bool has_read = false;          // an atomic between its read and its write
    std::uint32_t next = kNothing;  // in the line of its target's card
    ResultSlot* result = nullptr;
    std::uint64_t value = 0;
    Network::Service service{};
  };
  // The flights that a card has taken on and not yet served, in order.
  struct Line {
    std::uint32_t first = kNothing;
    std::uint32_t last = kNothing;
  };
  struct Outstanding {
    std::uint32_t rank;
    std::uint32_t operations;
  };
  struct Agent {
    std::unique_ptr<FiberContext> fiber;
    std::uint32_t home = 0;
    std::uint32_t stay = 0;  // incremented whenever it continues
    std::uint64_t answer = 0;
    std::vector<Outstanding> outstanding;  // its posted operations in flight, by rank
    std::uint32_t flushed = kNothing;      // the rank that it waits for
    PredicateRef predicate;
    Address watched;
    bool watching = false;
    bool expired = false;
    std::uint64_t until_ns = 0;
    Picos alarm = kEndOfTime;  // when its next kAlarm is due
  };

  // CoherentNode::Host
  Picos now() const override { return now_; }
  void pass_until(std::uint32_t agent, Picos then) override { pass_until(agents_[agent], then); }
  void stop(std::uint32_t agent) override { agents_[agent].fiber->suspend(); }
  void resume_at(std::uint32_t agent, Picos then) override {
    events_.add(then, What::kResume, agent, agents_[agent].stay);
  }
  void forget(std::uint32_t agent) override { ++agents_[agent].stay; }

  void begin(std::uint32_t agents);
  bool is_void(const Event& event);
  void handle(const Event& event);
  void go_on(std::uint32_t agent);
  void check_ended() const;
  Agent& caller(std::uint32_t number);
  void pass_until(Agent& agent, Picos then);
  bool is_by_cpu(const Operation& op) const { return op.access == OpClass::kCpu || one_class_; }
  bool is_out(const Agent& agent, std::uint32_t rank) const;

  std::uint64_t by_cpu(Agent& agent, const Operation& op);
  void launch(const Agent& agent, const Operation& op, ResultSlot* result, bool posted);
  void arrive(std::uint32_t flight);
  void served(std::uint32_t flight);
  void came_back(std::uint32_t flight);
  void finish(std::uint32_t flight);
  void take_off(Agent& agent, std::uint32_t rank);
  Network::Trip trip_of(const Flight& flight) const {
    return {flight.agent, agents_[flight.agent].home, flight.op};
  }
  void read_before(const Operation& op);
  std::uint64_t apply(const Operation& op);
  void look(std::uint32_t agent);
  void arm(std::uint32_t agent);
  void ring(std::uint32_t agent);
  std::size_t level_of(std::uint32_t a, std::uint32_t b) const;

  Machine machine_;
  const Topology& topology_;
  std::uint64_t seed_;
  TimedStats stats_;
  Network network_;
  Processors processors_;
  std::unique_ptr<CoherentNode> node_;  // replaces network and processors
  bool one_class_ = false;

  Picos now_ = 0;
  EventQueue events_;
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_flights_;
  std::vector<Line> lines_;  // by card
  std::vector<Agent> agents_;
  WatchList watchers_;
  std::uint32_t alive_ = 0;  // agents and flights that are not at their end
  bool running_ = false;
  std::uint32_t current_ = kNothing;  // the agent that runs
};

}  // namespace keyway::fabric::sim
