// Explorer: runs a program in every order that the endpoint concept allows.
//
// *What.* The grain is one operation. A posted operation happens at any time before the flush of
// its rank, in any order. A wait is one step, possible while its predicate holds. An attempt that
// failed is tried again only after another agent has changed memory, and leaves its agent as it was
// (that is what retry_until() asks of it), so that spinning does not make endless new states.
// Depth first; each execution is replayed from the start, since a stack cannot be copied. A state
// is memory, and for each agent the history of its results and what it has posted: two executions
// that meet in one go on alike, so the second ends there.
// With split_rma a read-modify-write of the `rma` class is two steps, its read and its write: no
// operation of the `rma` class on that word comes between them, one of the `cpu` class may (O4).
// *Deadlines* do not pass: every wait is for as long as it takes.
// *Thread safety.* None.
// *Source.* Stateless search with replay: Godefroid, POPL'97. State hashing as in Holzmann's spin:
// of 64 bits, so a million states collide with probability 3e-8.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "keyway/locks/fabric/fiber_context.h"
#include "keyway/locks/fabric/sim/engine.h"
#include "keyway/locks/fabric/sim/program.h"

namespace keyway::fabric::sim {

struct Violation {
  std::string what;
  /// One character per choice, to be given to Explorer::replay().
  std::string schedule;
  /// A line per operation: who, what, where by name, value.
  std::vector<std::string> trace;
};

struct ExploreReport {
  std::uint64_t states = 0;
  std::uint64_t executions = 0;
  std::uint64_t steps = 0;
  /// Every order was tried; false when a limit or a violation ended it, and in random mode.
  bool complete = false;
  std::optional<Violation> violation;
};

struct ExploreOptions {
  /// For programs that use both classes on one word; the others only get more states from it.
  bool split_rma = false;
};

class Explorer final : public Engine {
 public:
  explicit Explorer(Program& program, const ExploreOptions& options = {});
  ~Explorer() override;

  /// Every order, or until `most_states` were seen.
  ExploreReport exhaust(std::uint64_t most_states);
  /// `executions` orders drawn by the seed.
  ExploreReport random(std::uint64_t seed, std::uint64_t executions);
  /// The one order of a schedule.
  ExploreReport replay(const std::string& schedule);

  /// From an agent of the program: something is wrong. Ends this execution; does not return.
  [[noreturn]] void fail(std::uint32_t agent, std::string what);

  std::uint64_t perform(std::uint32_t agent, const Operation& op) override;
  void post(std::uint32_t agent, const Operation& op, ResultSlot* result) override;
  void flush(std::uint32_t agent, std::uint32_t rank) override;
  WaitResult wait(std::uint32_t agent, Address word, PredicateRef predicate,
                  Deadline deadline) override;
  void attempt_begins(std::uint32_t agent) override;
  void attempt_succeeded(std::uint32_t agent) override { agents_[agent].attempting = false; }
  bool attempt_failed(std::uint32_t agent, std::uint64_t wait_ns, Deadline deadline) override;
  std::uint64_t now_ns(std::uint32_t) const override { return 0; }

 private:
  enum class Phase : std::uint8_t { kOperation, kFlush, kWait, kRetry, kDone };
  struct Posted {
    Operation op;
    ResultSlot* result;
    std::uint64_t value = 0;
    bool begun = false;  // has read, and not yet written
    bool happened = false;
  };
  struct Agent {
    std::unique_ptr<FiberContext> fiber;
    Phase phase = Phase::kDone;
    Operation op;               // phase kOperation
    std::uint32_t flushed = 0;  // phase kFlush: the rank
    Address word;               // phase kWait
    PredicateRef predicate;     // phase kWait
    std::uint64_t answer = 0;   // what the operation gave
    std::uint64_t history = 0;  // hash of all answers so far
    std::uint64_t mark = 0;     // history as the attempt began
    std::uint64_t own_changes = 0;
    std::uint64_t seen_changes = 0;  // of others, as the attempt began
    std::vector<Posted> posted;
    bool begun = false;  // its operation has read, and not yet written
    bool attempting = false;
    bool abandoned = false;
  };
  // Agent's own step, or its posted operation number `posted`.
  struct Action {
    static constexpr std::uint32_t kOwn = ~0u;
    std::uint32_t agent;
    std::uint32_t posted;
  };
  struct Choice {
    std::vector<Action> actions;
    std::size_t taken = 0;
  };

  void start();
  void abandon();
  void resume(Agent& agent);
  void pause(Agent& agent);
  void enabled(std::vector<Action>& actions) const;
  bool can_go_on(const Agent& agent) const;
  void step(const Action& action);
  bool own_step(Agent& agent);
  bool happen(Agent& agent, const Operation& op, bool& begun, std::uint64_t& value);
  bool kept_out(const Operation& op, bool begun) const;
  std::uint64_t apply(Agent& agent, const Operation& op);
  std::uint64_t others_changes(const Agent& agent) const;
  std::uint64_t key() const;
  bool over();
  std::string stuck() const;
  std::string line(const Action& action, const Operation* op, std::uint64_t value) const;
  void report(ExploreReport& report, const std::vector<Choice>& path);

  Program& program_;
  ExploreOptions options_;
  std::vector<Agent> agents_;
  std::vector<Address> halfway_;  // words that a split operation has read and not yet written
  std::unordered_set<std::uint64_t> visited_;
  std::optional<std::string> wrong_;
  std::vector<std::string>* trace_ = nullptr;
  std::uint64_t steps_ = 0;
  bool at_once_ = true;  // no agent runs: operations happen as they are issued
  bool closing_ = false;
};

}  // namespace keyway::fabric::sim
