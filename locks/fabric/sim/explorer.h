// Explorer: runs a program by many schedules, and reports a violation with its schedule.
//
// *What.* Each execution is replayed from the start, since a stack cannot be copied.
//   exhaust   every schedule. Two executions that reach the same state (Execution::key) continue
//             alike, so the second ends there; an execution that reaches a new state continues from
//             it. After a violation a second search, breadth first, finds a shortest
//             schedule that shows it. The finished graph is then checked for livelock, starvation
//             and bypass.
//   bounded   every schedule with at most a given number of preemptions, fewer first. A preemption
//             is the step of another agent while the last one could have continued. Steps of posted
//             operations belong to the network and cost nothing; so do leaving an agent that waits,
//             rests or has nothing to retry for, and a deadline that passes.
//   random    each next step chosen uniformly, by a seed
//   pct       random priorities by a seed, lowered at `depth` - 1 random steps within the length of
//             the longest execution so far: finds a defect that needs `depth` ordered steps with a
//             probability of at least 1 / (threads * length^(depth - 1)) per execution. A posted
//             operation and the patience of a wait count as threads, each with its own priority
//   replay    one schedule, with a trace
// *Schedules.* A schedule is an order of steps. Its text has a character per step: the step's place
// among the steps that were possible, with a ~ in front for each 62 that do not fit into one. Steps
// that are taken at once have none. A cycle is written "stem(loop)"; a replay checks that the
// loop ends where it began.
// *Thread safety.* None.
// *Source.* Stateless search with replay: Godefroid, POPL'97; state hashing: Holzmann's spin;
// iterative context bounding: Musuvathi and Qadeer, PLDI'07; PCT: Burckhardt et al., ASPLOS'10.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/fabric/sim/explorer_execution.h"
#include "keyway/locks/fabric/sim/explorer_graph.h"
#include "keyway/locks/fabric/sim/program.h"

namespace keyway::fabric::sim {

struct Lasso;

/// Something that a schedule shows.
struct Finding {
  std::string what;
  /// To be given to Explorer::replay().
  std::string schedule;
  /// One line per operation: agent, operation, the word's name, value.
  std::vector<std::string> trace;
};

/// The verdict of a finished state graph on waiting.
struct Waiting {
  /// A fair cycle in which an agent waits and no agent enters, if there is one.
  std::optional<Finding> livelock;
  /// A fair cycle that leaves an agent out, if there is one; preferably an agent that the program
  /// promises to let in.
  std::optional<Finding> starvation;
  /// The agents for which there is such a cycle.
  std::vector<std::uint32_t> starving;
  /// The maximum number of entries of others past a waiting agent; nothing if there is no bound.
  std::optional<std::uint64_t> bypass;
  /// The same of each agent.
  std::vector<std::optional<std::uint64_t>> bypass_of;
  std::optional<Finding> unbounded;
};

struct ExploreReport {
  std::uint64_t states = 0;  // of random schedules at most ExploreOptions::most_counted
  std::uint64_t executions = 0;
  std::uint64_t steps = 0;
  std::uint64_t edges = 0;     // of a search of every schedule: the steps between its states
  std::uint64_t foreseen = 0;  // those of them that needed no execution
  std::uint64_t longest = 0;   // steps of the longest execution
  std::uint64_t cut = 0;       // random executions that were ended for their length
  /// States first seen with 0, 1, ... preemptions.
  std::vector<std::uint64_t> by_preemptions;
  /// Every schedule was tried; false when a limit or a violation ended it, and for random ones.
  bool complete = false;
  std::optional<Finding> violation;
  /// After a complete search in which some agent waited.
  std::optional<Waiting> waiting;
};

struct ExploreOptions {
  /// For programs that use both classes on one word; the others only get more states from it.
  bool split_rma = false;
  /// Stores of the `cpu` class wait in a buffer of their agent (explorer_execution.h).
  bool store_buffers = false;
  /// Stores of the `rma` class happen twice (O5).
  bool double_stores = false;
  /// Bytes move word by word, in any order.
  bool torn_bytes = false;
  /// Leaves out schedules that no agent can distinguish from others (explorer_execution.h,
  /// *Reduction*).
  bool reduce = true;
  /// Does not execute steps whose end follows from others (explorer_foresight.h), if the program
  /// allows that.
  bool foresee = true;
  /// Executes them nevertheless, and reports a step that ends elsewhere as a violation.
  bool check_foreseen = false;
  /// Maximum number of steps of a random execution: its agents may run for ever.
  std::uint64_t most_steps = 20'000;
  /// Random executions count up to this many states, which takes them twice as long.
  std::uint64_t most_counted = 0;
};

class Explorer final {
 public:
  explicit Explorer(Program& program, const ExploreOptions& options = {})
      : program_(program),
        options_(options),
        execution_(program, {.split_rma = options.split_rma,
                             .store_buffers = options.store_buffers,
                             .double_stores = options.double_stores,
                             .torn_bytes = options.torn_bytes,
                             .reduce = options.reduce}) {}

  /// Every schedule, or until `most_states` were seen.
  ExploreReport exhaust(std::uint64_t most_states);
  ExploreReport bounded(std::uint32_t most_preemptions, std::uint64_t most_states);
  ExploreReport random(std::uint64_t seed, std::uint64_t executions);
  ExploreReport pct(std::uint64_t seed, std::uint64_t executions, std::uint32_t depth);
  ExploreReport replay(const std::string& schedule);

  Memory& memory() { return execution_.memory(); }

 private:
  /// How many new states an execution may add beyond the state where it started. More would save
  /// executions, but reach states by ever longer schedules if agents run for ever.
  static constexpr std::uint32_t kChain = 24;
  struct Search;
  struct RandomChoice;  // how the next step is chosen
  struct Replayed;

  ExploreReport search(std::uint64_t most_states, bool in_chains);
  bool arrive(Search& search, const Choice& by);
  bool foresee(Search& search, std::uint32_t id, std::uint16_t choice);
  void follow(Search& search, StateGraph::Id id, std::uint16_t choice);
  ExploreReport run_random(std::uint64_t executions, RandomChoice& choice);
  void run_to(const StateGraph& graph, StateGraph::Id id);
  void judge(const StateGraph& graph, ExploreReport& report);
  std::string schedule_of(const Schedule& path) const;
  Finding explained(const std::string& schedule);
  Finding explained(const Lasso& lasso);
  void replay_steps(const std::string& schedule, Replayed& replayed);
  void close_loop(const std::string& schedule, Replayed& replayed);

  Program& program_;
  ExploreOptions options_;
  Execution execution_;
};

}  // namespace keyway::fabric::sim
