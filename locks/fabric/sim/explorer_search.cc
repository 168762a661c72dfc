// How the explorer goes through every schedule, or through those with few preemptions.
#include <algorithm>
#include <deque>
#include <unordered_set>
#include <utility>

#include "keyway/locks/base/check.h"
#include "keyway/locks/fabric/sim/explorer.h"
#include "keyway/locks/fabric/sim/explorer_fairness.h"
#include "keyway/locks/fabric/sim/explorer_foresight.h"
#include "keyway/locks/fabric/sim/explorer_hash.h"

namespace keyway::fabric::sim {

using Id = StateGraph::Id;

/// From the start along the steps by which a state was first reached.
void Explorer::run_to(const StateGraph& graph, Id id) {
  execution_.start();
  for (const Choice& choice : graph.path_to(id)) execution_.step(choice.action);
}

// A search of every schedule: the states that it has seen, and the steps that it has not tried yet.
struct Explorer::Search {
  struct Open {
    Id id;
    std::uint16_t from;  // the first choice that has not been taken
    std::uint16_t choices;
  };

  bool in_chains;  // an execution that reaches a new state continues from there
  bool foresees;
  StateGraph graph;
  Foresight foresight;
  std::uint64_t foreseen = 0;
  std::vector<std::vector<Open>> open;  // by depth
  std::vector<Action> actions;          // the possible next steps of the execution
  Id at = StateGraph::kNone;            // its present state
  std::optional<Schedule> wrong;

  void push(const Open& state) {
    if (state.from == state.choices) return;
    const std::uint32_t depth = graph.state(state.id).depth;
    if (open.size() <= depth) open.resize(depth + 1);
    open[depth].push_back(state);
  }
};

/// After a step. True if the state is new and without a violation.
bool Explorer::arrive(Search& search, const Choice& by) {
  const Id from = search.at;
  const auto [id, is_new] = search.graph.insert(execution_.key(), execution_.moment(), from, by);
  if (from != StateGraph::kNone) search.graph.add_edge(from, id, by);
  if (is_new) execution_.next(search.actions);
  if (search.foresees) {
    if (is_new) search.foresight.add_state(search.actions);
    if (from != StateGraph::kNone && !search.foresight.is_known(from, by.taken)) {
      search.foresight.add_step(from, by.taken, id, execution_.footprint());
    } else if (from != StateGraph::kNone && search.foresight.end_of(from, by.taken) != id) {
      execution_.set_wrong("the explorer foresaw another end of this step");
    }
  }
  if (execution_.wrong()) {
    search.wrong.emplace();
    if (from != StateGraph::kNone) {
      search.wrong = search.graph.path_to(from);
      search.wrong->push_back(by);
    }
  }
  search.at = id;
  return is_new && !search.wrong;
}

/// Whether the step need not be executed.
bool Explorer::foresee(Search& search, Id id, std::uint16_t choice) {
  if (!search.foresees) return false;
  const auto to = search.foresight.foresee(id, choice);
  if (!to) return false;
  ++search.foreseen;
  if (options_.check_foreseen) return false;
  search.graph.add_edge(id, *to, {search.foresight.action(id, choice), choice});
  return true;
}

/// From a state by one of its choices, and on by a choice of each new state.
void Explorer::follow(Search& search, Id id, std::uint16_t choice) {
  execution_.note_footprints(false);
  run_to(search.graph, id);
  execution_.note_footprints(search.foresees);
  execution_.next(search.actions);
  search.at = id;
  const std::uint32_t deepest = search.graph.state(id).depth + (search.in_chains ? kChain : 0);
  while (true) {
    const Choice by{search.actions[choice], choice};
    execution_.step(by.action);
    if (!arrive(search, by)) break;
    const auto choices = static_cast<std::uint16_t>(search.actions.size());
    choice = 0;
    while (choice < choices && foresee(search, search.at, choice)) ++choice;
    const bool goes_on = choice < choices && search.graph.state(search.at).depth <= deepest;
    search.push({search.at, static_cast<std::uint16_t>(choice + (goes_on ? 1 : 0)), choices});
    if (!goes_on) break;
  }
  execution_.abandon();
}

ExploreReport Explorer::search(std::uint64_t most_states, bool in_chains) {
  ExploreReport report;
  const std::uint64_t before = execution_.steps();
  Search search{.in_chains = in_chains, .foresees = options_.foresee && program_.foreseeable()};
  const auto goes_on = [&] { return !search.wrong && search.graph.size() < most_states; };
  execution_.start();
  if (arrive(search, {})) {
    search.push({0, 0, static_cast<std::uint16_t>(search.actions.size())});
  }
  execution_.abandon();
  report.executions = 1;
  for (std::size_t depth = 0; depth < search.open.size() && goes_on(); ++depth) {
    for (const Search::Open& state : std::exchange(search.open[depth], {})) {
      for (std::uint16_t k = state.from; k < state.choices && goes_on(); ++k) {
        if (foresee(search, state.id, k)) continue;
        ++report.executions;
        follow(search, state.id, k);
      }
    }
  }
  if (search.wrong) report.violation = explained(schedule_of(*search.wrong));
  report.complete = goes_on();
  report.states = search.graph.size();
  report.longest = search.open.size();
  report.edges = search.graph.edges();
  report.foreseen = search.foreseen;
  if (report.complete) {
    search.foresight = {};
    search.graph.sort_edges();
    judge(search.graph, report);
  }
  report.steps = execution_.steps() - before;
  return report;
}

ExploreReport Explorer::exhaust(std::uint64_t most_states) {
  ExploreReport report = search(most_states, true);
  if (!report.violation || report.complete) return report;
  // Once more, strictly by depth, for a shortest way there: unless that takes much longer.
  ExploreReport shortest =
      search(std::min(most_states, std::max<std::uint64_t>(100'000, 2 * report.states)), false);
  return shortest.violation ? shortest : report;
}

namespace {

/// The verdict on one agent's waiting, merged with that on the others.
struct Gathered {
  std::uint32_t promised_from = 0;
  std::optional<Lasso> livelock, starvation, unbounded;
  std::vector<std::uint32_t> starving;
  std::vector<std::optional<std::uint64_t>> bypass_of;
  Bypass worst;

  bool promised_starve() const { return !starving.empty() && starving.back() >= promised_from; }

  void add(const StateGraph& graph, std::uint32_t agent) {
    if (!livelock) livelock = fair_cycle_without(graph, agent, Exclusion::kEverybody);
    if (auto cycle = fair_cycle_without(graph, agent, Exclusion::kThisAgent)) {
      if (!promised_starve()) starvation = std::move(cycle);
      starving.push_back(agent);
    }
    Bypass bypass = sim::bypass_of(graph, agent);
    auto& bound = bypass_of.emplace_back();
    if (!bypass.unbounded) bound = bypass.most;
    if (bypass.unbounded && !unbounded) unbounded = std::move(bypass.unbounded);
    if (bound && *bound > worst.most) worst = std::move(bypass);
  }
};

bool somebody_wants_in(const StateGraph& graph, std::uint32_t agents) {
  for (Id id = 0; id < graph.size(); ++id) {
    for (std::uint32_t i = 0; i < agents; ++i) {
      if (graph.state(id).moment.wants_in(i)) return true;
    }
  }
  return false;
}

}  // namespace

void Explorer::judge(const StateGraph& graph, ExploreReport& report) {
  if (!somebody_wants_in(graph, program_.agents())) return;
  const Promises promises = program_.promises();
  Gathered gathered{.promised_from = promises.promised_from};
  for (std::uint32_t i = 0; i < program_.agents(); ++i) gathered.add(graph, i);
  Waiting& waiting = report.waiting.emplace();
  if (gathered.livelock) waiting.livelock = explained(*gathered.livelock);
  if (gathered.starvation) waiting.starvation = explained(*gathered.starvation);
  if (gathered.unbounded) {
    waiting.unbounded = explained(*gathered.unbounded);
  } else {
    waiting.bypass = gathered.worst.most;
  }
  waiting.starving = gathered.starving;
  waiting.bypass_of = gathered.bypass_of;
  if (promises.progress && waiting.livelock) {
    report.violation = waiting.livelock;
  } else if (promises.starvation_freedom && gathered.promised_starve()) {
    report.violation = waiting.starvation;
  } else if (promises.most_bypass && waiting.unbounded) {
    report.violation = waiting.unbounded;
  } else if (promises.most_bypass && *waiting.bypass > *promises.most_bypass) {
    report.violation = explained(schedule_of(gathered.worst.witness));
  }
}

// --- few preemptions

namespace {

// States, each together with the agent that went last: the one that can be preempted.
struct Bounded {
  struct Step {
    Id from;
    Choice choice;
    std::uint32_t last;  // the last agent to step, after this step
  };
  static constexpr std::uint32_t kNobody = kMaxExplored;

  StateGraph graph;
  std::vector<std::uint32_t> last;  // for each state of the graph
  std::deque<Step> now;
  std::vector<Step> later;                // each a preemption more
  std::unordered_set<std::uint64_t> met;  // states by themselves

  bool arrive(const Execution& execution, const Step& step) {
    met.insert(execution.key());
    const std::uint64_t key = mixed(execution.key(), step.last);
    if (!graph.insert(key, {}, step.from, step.choice).second) return false;
    last.push_back(step.last);
    return true;
  }
  /// The steps that can follow the execution's present state, the newest of the graph.
  void sort_out(const Execution& execution, const std::vector<Action>& actions) {
    const Id id = graph.size() - 1;
    const bool goes_on = last[id] != kNobody && execution.could_go_on(last[id]);
    for (std::size_t k = 0; k < actions.size(); ++k) {
      const Choice choice{actions[k], static_cast<std::uint16_t>(k)};
      const bool own = actions[k].kind == Action::Kind::kOwn;
      const Step step{id, choice, own ? actions[k].agent : last[id]};
      if (own && goes_on && actions[k].agent != last[id]) {
        later.push_back(step);
      } else {
        now.push_back(step);
      }
    }
  }
};

}  // namespace

ExploreReport Explorer::bounded(std::uint32_t most_preemptions, std::uint64_t most_states) {
  ExploreReport report;
  const std::uint64_t before = execution_.steps();
  Bounded search;
  std::vector<Action> actions;
  search.now.push_back({StateGraph::kNone, {}, Bounded::kNobody});
  while (!report.violation && search.met.size() < most_states) {
    if (search.now.empty()) {
      report.by_preemptions.push_back(search.met.size());
      report.complete = search.later.empty();
      if (report.complete || report.by_preemptions.size() > most_preemptions) break;
      search.now.assign(search.later.begin(), search.later.end());
      search.later.clear();
    }
    const Bounded::Step step = search.now.front();
    search.now.pop_front();
    ++report.executions;
    if (step.from == StateGraph::kNone) {
      execution_.start();
    } else {
      run_to(search.graph, step.from);
      execution_.step(step.choice.action);
    }
    if (search.arrive(execution_, step)) {
      execution_.next(actions);
      search.sort_out(execution_, actions);
      report.longest = std::max<std::uint64_t>(
          report.longest, search.graph.path_to(search.graph.size() - 1).size());
    }
    const bool wrong = execution_.wrong().has_value();
    execution_.abandon();
    if (wrong)
      report.violation = explained(schedule_of(search.graph.path_to(search.graph.size() - 1)));
  }
  report.states = search.met.size();
  report.steps = execution_.steps() - before;
  return report;
}

}  // namespace keyway::fabric::sim
