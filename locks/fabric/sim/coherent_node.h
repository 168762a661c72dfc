// CoherentNode: one multicore node, on which agents reach all memory by the processor.
//
// *What.* Caches computes the cost of an access, and Cores decides which agent runs; this class
// simulates the agents between them:
//   - a load or an atomic takes its access and overhead_ns, then it happens;
//   - loads overlap, as processors look ahead: a load is shortened by overlap_share of the time
//     that its agent has waited for earlier loads; but only since the last atomic or wait, and
//     since the load that brought its address;
//   - a store goes to the store buffer: its agent continues after store_ns and overhead_ns. The
//     line changes, and waiters are notified, when the access is done, in the order of the agent's
//     stores. The agent's next atomic is done after them, and fetches its own line meanwhile;
//   - a waiter has read its line, and reads it again only after the line was written: an access
//     like any other, so that many waiters of one line are served one after another. The time of
//     its polls follows locks/fabric/wait.h: every look_ns while it spins, then every yield of its
//     hardware thread;
//   - a failed attempt is followed by the next after retry_ns, or after its back-off, during which
//     the agent yields;
//   - after spin_ns a waiter leaves its hardware thread if it shares the thread with other agents,
//     or if the machine says that waiters sleep: then the writer pays signal_ns for each sleeper.
// *Time* is whole picoseconds here, in doubles, which are exact for hours; the machine's costs are
// rounded to them once.
// *Thread safety.* None: one thread simulates.
// *Invariants.* N1: an agent continues only while it has its hardware thread. N2: an agent that
// waits for a line is notified of the first write after its poll, and then no longer waits. N3: an
// operation happens when its agent continues, so that its agent sees its own stores.
// *Source.* Design section 8; locks/fabric/wait.h; caches.h and cores.h.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "keyway/locks/fabric/sim/caches.h"
#include "keyway/locks/fabric/sim/cores.h"
#include "keyway/locks/fabric/sim/engine.h"
#include "keyway/locks/fabric/sim/multicore.h"
#include "keyway/locks/fabric/sim/virtual_time.h"

namespace keyway::fabric::sim {

class CoherentNode {
 public:
  /// The engine that runs the agents as fibers in virtual time.
  class Host {
   public:
    virtual Picos now() const = 0;
    /// Stops the calling agent until `then`.
    virtual void pass_until(std::uint32_t agent, Picos then) = 0;
    /// Stops the calling agent until a time that was arranged for it.
    virtual void stop(std::uint32_t agent) = 0;
    /// Arranges that a stopped agent continues at `then`; the earliest of several times counts.
    virtual void resume_at(std::uint32_t agent, Picos then) = 0;
    /// Cancels the arrangement for a stopped agent.
    virtual void forget(std::uint32_t agent) = 0;

   protected:
    ~Host() = default;
  };

  /// Host and memory outlive the node.
  CoherentNode(const Multicore& machine, Host& host, Memory& memory, std::uint64_t seed);

  /// Agents 0 .. n - 1 begin; those returned run at once, the others when they have a thread.
  std::vector<std::uint32_t> begin(std::uint32_t n);
  /// From an agent: its last word.
  void end(std::uint32_t agent);

  // From a running agent, as in engine.h.
  std::uint64_t perform(std::uint32_t agent, const Operation& op);
  /// `until` may be kEndOfTime.
  WaitResult wait(std::uint32_t agent, Address word, PredicateRef predicate, Picos until);
  /// Between attempts: so much back-off, or none.
  void rest(std::uint32_t agent, Picos span);
  void spend(std::uint32_t agent, Picos span);

  const Caches& caches() const { return caches_; }
  const Cores& cores() const { return cores_; }

 private:
  /// Few loads lie between two atomics.
  static constexpr std::uint32_t kNamed = 8;
  struct Named {
    std::uint64_t line = 0;
    double waited = 0;
  };
  struct Agent {
    double stored = 0;     // when the last of its stores is done
    double looked = 0;     // when it last looked, while it waits
    double spin_ends = 0;  // the end of this wait's spinning
    // Its loads since its last atomic, wait or work: the total time that it waited for them, and
    // the lines that the last of them name, with that total when each was known.
    double waited = 0;
    std::array<Named, kNamed> named{};
    std::uint32_t next_named = 0;
  };

  double now() const { return static_cast<double>(host_.now()); }
  void resume_at(std::uint32_t agent, double then);
  void await_write(std::uint32_t agent, std::uint64_t line, Picos until);
  void written(const Operation& op, std::uint32_t by, double at);
  std::uint32_t tell(std::uint64_t line, double at);
  double next_look(const Agent& waiter, double written) const;
  double access(std::uint32_t thread, const Operation& op, double begins);
  double overlapped(Agent& agent, Address at, double done) const;
  static void name(Agent& agent, std::uint64_t word);
  static void begin_anew(Agent& agent);
  void pass_on(const Cores::Turn& turn);
  void leave_and_return(std::uint32_t agent, Cores::Leave why);
  void want_thread(std::uint32_t agent);
  void keep_quantum(std::uint32_t agent);

  Multicore machine_;  // its costs in ps
  Host& host_;
  Memory& memory_;
  Caches caches_;
  Cores cores_;
  std::vector<Agent> agents_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> waiting_;  // by line
};

}  // namespace keyway::fabric::sim
