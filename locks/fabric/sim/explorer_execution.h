// Execution: one run of a program, step by step, by a schedule that the caller chooses.
//
// *What.* The grain is one operation. A posted operation happens at any time before the flush of
// its rank, in any order. A wait is one step, possible while its predicate holds. An attempt that
// failed is tried again only after another agent, or an earlier post, has changed memory, and
// leaves its agent as it was (retry_until() requires that), so that spinning does not make endless
// new states. Operations that an agent issues to a rank after an order() of it happen after the
// operations that it posted to the rank before. With split_rma a read-modify-write of the `rma`
// class is two steps, its read and its write: no operation of the `rma` class on that word happens
// between them, but one of the `cpu` class may (O4). With double_stores a store of the `rma` class,
// also one by a swap or a compare-and-swap, is two steps with the same value, and operations of the
// `cpu` class may happen between them in the same way (O5). With torn_bytes a read or write of
// bytes is an operation of its own for each 8-byte word, in any order (E6). *Store
// buffers.* With store_buffers a store of the `cpu` class waits in a buffer of its agent, as on a
// processor with total store order, and happens at any later time, after the stores before it. The
// agent's own `cpu` loads and its waits see it at once. Before a fence() ends, and before any
// operation of the agent that changes memory happens, all earlier stores in the buffer have
// happened (E4); loads do not wait for the buffer, except for stores to their rank before an
// order() (O6, O7). Stores after an order() wait for the operations that were posted to the rank
// before it.
// *Deadlines.* A wait or an attempt with a deadline may time out whenever it cannot proceed, as
// a separate step. A deadline of a second or more is patience, not behaviour, and does not pass.
// An agent's clock advances only when the agent sees a deadline pass.
// *Reduction.* With `reduce` a step that no other agent can see or hinder is taken at once, as a
// part of the step after which it became possible: no state, no choice, no place in a schedule.
//   own       An operation that its agent waits for, by itself or in a flush, on a word that is the
//             agent's own (Sight::kOwn): another agent that touches the word violates the program's
//             checks, before the operation as much as after it. While the agent waits, only its
//             posted operations could make the word known to others: so all of those must be kOwn
//             as well. A posted operation is not taken before its flush, because until then it may
//             also happen too late, after the word has been made known.
//   unseen    An operation with a result that no agent reads (Sight::kUnseen).
//   again     An agent that can try again does so, if it has no deadline that could pass instead.
//             This changes only which changes count as new since the attempt began: an attempt may
//             be made once more than necessary, and that leaves no trace.
// Each such step commutes with every step of others that can come before it, or one of the two
// orders is a violation that is found in the order kept: persistent sets of one step. None of them
// makes an agent wait, and at most kMaxAtOnce are taken in a row, so no cycle consists of them and
// no agent is passed over for ever. Such steps never enter (a program checks that by at_once()), so
// the set of waiters at each entry is unchanged, and with it livelock, starvation and bypass. A
// schedule of the reduced search is a schedule of the full search, and fair if that is.
//   Results   of stores and writes, which agents do not receive, are not part of an agent's
//             history, and an agent forgets its history if forget() names all that its future
//             depends on.
// *The key.* key() hashes memory and, for each agent, its results since the start or its last
// rest() or forget(), its next operation, which of its posted operations have happened, its
// standing, and the state that the program remembers. These determine a program, so equal keys have
// equal futures. 64 bits: a million states collide with probability 3e-8.
// *Thread safety.* None.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "keyway/locks/fabric/fiber_context.h"
#include "keyway/locks/fabric/forced_unwind.h"
#include "keyway/locks/fabric/sim/engine.h"
#include "keyway/locks/fabric/sim/explorer_footprint.h"
#include "keyway/locks/fabric/sim/program.h"

namespace keyway::fabric::sim {

/// Agents that an execution can have.
inline constexpr std::uint32_t kMaxExplored = 64;

/// One step: an agent's next step, the end of its patience, or one of its posted operations.
struct Action {
  enum class Kind : std::uint8_t { kOwn, kExpire, kPosted };
  std::uint8_t agent = 0;
  Kind kind = Kind::kOwn;
  std::uint8_t posted = 0;

  /// Represents the oldest store of the agent's buffer, instead of a posted operation.
  static constexpr std::uint8_t kBuffered = 255;

  bool operator==(const Action&) const = default;
};

/// The rules of an execution: which reorderings it explores, and whether it saves steps.
struct ExecutionRules {
  bool split_rma = false;
  bool store_buffers = false;
  bool double_stores = false;
  bool torn_bytes = false;
  bool reduce = true;
};

/// The properties of a state that the analysis of a state graph needs.
struct Moment {
  // A bit for each agent, here and below: the lower and the higher bit of its standing.
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint64_t can_go = 0;     // agents that have a step of their own to take; none that rests
  std::uint64_t in_flight = 0;  // agents of which a posted operation can happen

  void set(std::uint32_t agent, Standing standing) {
    low |= (static_cast<std::uint64_t>(standing) & 1) << agent;
    high |= (static_cast<std::uint64_t>(standing) >> 1) << agent;
  }
  std::uint64_t waiting() const { return high & ~low; }
  std::uint64_t wanting() const { return low ^ high; }
  std::uint64_t inside() const { return low & high; }
  bool wants_in(std::uint32_t agent) const { return (wanting() >> agent & 1) != 0; }
  bool waits(std::uint32_t agent) const { return (waiting() >> agent & 1) != 0; }
  /// The agents that enter by the step from here to `next`.
  std::uint64_t entering(const Moment& next) const { return next.inside() & ~inside(); }
};

class Execution final : public Engine {
 public:
  Execution(Program& program, const ExecutionRules& rules);
  ~Execution() override;
  bool one_class() const override { return program_.one_class(); }

  // --- for the caller that chooses the schedule
  void start();
  void abandon();
  /// The possible next steps; none if the execution has ended, and then wrong() is final.
  void next(std::vector<Action>& actions);
  void step(const Action& action);
  std::uint64_t key() const;
  Moment moment() const;
  /// Whether taking the step of another agent now would be a preemption of this one.
  bool could_go_on(std::uint32_t agent) const;
  /// A name for the owner of a step, for priorities: the agent, one posted operation, one wait's
  /// end.
  std::uint64_t thread(const Action& action) const;
  const std::optional<std::string>& wrong() const { return wrong_; }
  void set_wrong(std::string what) { wrong_ = std::move(what); }
  /// A line for each step goes here from now on; null: no more.
  void trace_into(std::vector<std::string>* lines) { trace_ = lines; }
  std::uint64_t steps() const { return steps_; }
  /// What the last step() touched, if it was asked to note that.
  void note_footprints(bool wanted) { noting_ = wanted; }
  const Footprint& footprint() const { return footprint_; }

  // --- for an agent of the program
  /// Something is wrong. Ends this execution; does not return.
  [[noreturn]] void fail(std::uint32_t agent, std::string what);
  /// The agent is where it has been before, except for `digest`: nothing posted, nothing held. It
  /// forgets its results and may come back at any time, or never.
  void rest(std::uint32_t agent, std::uint64_t digest);
  /// The agent's future depends on its past only by `digest` and by its posted operations. It
  /// continues. Does nothing if the search is not reduced.
  void forget(std::uint32_t agent, std::uint64_t digest);
  bool has_posted(std::uint32_t agent) const { return !agents_[agent].posted.empty(); }
  /// Whether the agent that runs does so by a step that is taken at once.
  bool at_once() const { return taking_at_once_; }
  /// Overwrites a word that no agent may read before its owner has written it again: poison, which
  /// exposes an agent that reads it. It is not the step of an agent, so no retry continues because
  /// of it.
  void poison(Address word);
  /// Waits until the agent's buffer is empty: for a program that reads memory by itself.
  void drain(std::uint32_t agent);
  /// A word as it is in memory, for the program's checks in an agent's step.
  std::uint64_t look(Address word);

  // --- for its endpoints
  std::uint64_t perform(std::uint32_t agent, const Operation& op) override;
  void post(std::uint32_t agent, const Operation& op, ResultSlot* result) override;
  void flush(std::uint32_t agent, std::uint32_t rank) override;
  void fence(std::uint32_t agent) override;
  void order(std::uint32_t agent, std::uint32_t rank) override;
  WaitResult wait(std::uint32_t agent, Address word, PredicateRef predicate,
                  Deadline deadline) override;
  void attempt_begins(std::uint32_t agent) override;
  void attempt_succeeded(std::uint32_t agent) override { agents_[agent].attempting = false; }
  bool attempt_failed(std::uint32_t agent, std::uint64_t wait_ns, Deadline deadline) override;
  bool attempts_are_equal() const override { return true; }
  std::uint64_t now_ns(std::uint32_t agent) const override { return agents_[agent].clock_ns; }

 private:
  // Leaves the verdict of a program that would wait for ever.
  struct EndlessWait {};
  /// Steps of one agent that are taken at once before others get their turn.
  static constexpr std::uint32_t kMaxAtOnce = 64;
  enum class Phase : std::uint8_t { kOperation, kFlush, kDrain, kWait, kRetry, kRest, kDone };
  /// How far an operation of two steps has come.
  enum class Begun : std::uint8_t { kNot, kRead, kWritten };
  struct Posted {
    Operation op;
    ResultSlot* result;
    std::uint64_t serial = 0;
    std::uint64_t behind = 0;  // serial of the last post to its rank that it may not overtake
    std::uint64_t value = 0;
    Begun begun = Begun::kNot;
    bool happened = false;
  };
  struct Agent {
    std::unique_ptr<FiberContext> fiber;
    std::uint32_t number = 0;
    Phase phase = Phase::kDone;
    Operation op;                // phase kOperation
    std::uint32_t flushed = 0;   // phase kFlush: the rank
    std::uint64_t after = 0;     // phase kFlush: only what was posted after this serial
    Address word;                // phase kWait
    PredicateRef predicate;      // phase kWait
    std::uint64_t until_ns = 0;  // phases kWait, kRetry: when they expire
    bool expired = false;
    std::uint64_t clock_ns = 0;
    std::uint64_t answer = 0;   // the result of the operation
    std::uint64_t history = 0;  // hash of all answers so far
    std::uint64_t mark = 0;     // history as the attempt began
    std::uint64_t own_changes = 0;
    std::uint64_t seen_changes = 0;  // not by its attempts, at the start of one
    std::size_t had_posted = 0;      // as the attempt began
    std::vector<Posted> posted;
    std::vector<Posted> buffer;          // stores of the `cpu` class, oldest first
    std::vector<std::uint64_t> ordered;  // by rank: serial of the last post before its last order()
    std::uint64_t serial = 0;            // number of the last post or wait
    Begun begun = Begun::kNot;           // progress of its operation
    bool attempting = false;
    bool abandoned = false;
    ForcedUnwind unwinding;  // see leave()

    /// Operations on ranks without a segment are a footprint violation, which other code reports.
    std::uint64_t ordered_behind(std::uint32_t rank) const {
      return rank < ordered.size() ? ordered[rank] : 0;
    }
  };

  void step_alone(const Action& action);
  void resume(Agent& agent);
  void pause(Agent& agent, Phase phase);
  [[noreturn]] static void leave(Agent& agent);
  void post_words(Agent& agent, const Operation& op);
  void complete(Agent& agent, std::uint32_t rank, std::uint64_t after);
  void set_deadline(Agent& agent, Deadline deadline);
  void enabled(std::vector<Action>& actions) const;
  bool can_go_on(const Agent& agent) const;
  bool can_expire(const Agent& agent) const;
  bool can_happen(const Agent& agent, const Posted& posted) const;
  bool held_back(const Agent& agent, std::uint32_t rank, std::uint64_t behind) const;
  bool can_drain(const Agent& agent) const;
  bool behind_buffer(const Agent& agent, const Operation& op, std::uint64_t serial) const;
  std::uint64_t seen(const Agent& agent, Address word) const;
  bool own_step(Agent& agent);
  void posted_step(Agent& agent, const Action& action);
  void buffered_step(Agent& agent, const Action& action);
  bool happen(Agent& agent, const Operation& op, Begun& begun, std::uint64_t& value);
  bool kept_out(const Operation& op, Begun begun) const;
  bool halfway(Address word) const;
  bool splits(const Operation& op) const {
    return rules_.split_rma && op.access == OpClass::kRma && op.reads_and_writes();
  }
  bool tears(const Operation& op) const {
    return rules_.torn_bytes && !op.is_word() && op.at.offset() % 8 + op.bytes > 8;
  }
  /// A word of bytes that move in any order. The program's checks are not asked about it.
  bool is_torn(const Operation& op) const { return rules_.torn_bytes && !op.is_word(); }
  bool stores_twice(const Operation& op) const {
    const bool stores =
        op.kind == OpKind::kStore || op.kind == OpKind::kSwap || op.kind == OpKind::kCompareSwap;
    return rules_.double_stores && op.access == OpClass::kRma && stores;
  }
  std::uint64_t apply(Agent& agent, const Operation& op);
  void observe(const Agent& agent, const Operation& op, std::uint64_t old);
  bool within_memory(const Operation& op) const;
  std::uint64_t others_changes(const Agent& agent) const {
    return memory().changes() - agent.own_changes;
  }
  // --- reduction
  void take_at_once(Agent& agent);
  bool takes_at_once(Agent& agent);
  bool waits_for_own(const Agent& agent) const;
  bool happens_at_once(Agent& agent, std::size_t posted);
  bool drains_at_once(Agent& agent);
  void go_again();
  /// The part of a result that the agent receives, for its history.
  std::uint64_t observed(const Operation& op, std::uint64_t value) const {
    return rules_.reduce && (op.kind == OpKind::kStore || op.kind == OpKind::kWrite) ? 0 : value;
  }
  // --- footprints
  std::uint64_t remembered() const;
  void note_pending(const Agent& agent);
  void note_words(std::uint64_t& bits, const Operation& op) const;
  void note_read(Address word) { footprint_.reads |= Footprint::bit_of(word); }
  void conclude();
  std::string stuck() const;
  std::string line(const Action& action, const Operation* op, std::uint64_t value) const;
  std::string waiting_line(const Action& action) const;

  Program& program_;
  ExecutionRules rules_;
  std::vector<Agent> agents_;
  std::vector<Address> halfway_;  // words at which an operation of two steps has made one
  std::optional<std::string> wrong_;
  std::vector<std::string>* trace_ = nullptr;
  std::uint64_t steps_ = 0;
  Footprint footprint_;
  bool noting_ = false;
  bool idle_ = true;  // no agent runs: operations happen as they are issued
  bool taking_at_once_ = false;
  bool closing_ = false;
};

}  // namespace keyway::fabric::sim
