// How the explorer goes through every order, or through those with few preemptions.
#include <algorithm>
#include <deque>
#include <unordered_set>

#include "keyway/locks/base/check.h"
#include "keyway/locks/fabric/sim/explorer.h"
#include "keyway/locks/fabric/sim/explorer_fairness.h"
#include "keyway/locks/fabric/sim/explorer_hash.h"

namespace keyway::fabric::sim {

using Id = StateGraph::Id;

/// From the start along the steps by which a state was first reached.
void Explorer::run_to(const StateGraph& graph, Id id) {
  execution_.start();
  for (const Choice& choice : graph.path_to(id)) execution_.step(choice.action);
}

ExploreReport Explorer::exhaust(std::uint64_t most_states) {
  ExploreReport report;
  const std::uint64_t before = execution_.steps();
  StateGraph graph;
  std::vector<Action> actions;
  execution_.start();
  graph.insert(execution_.key(), execution_.moment(), StateGraph::kNone, {});
  execution_.abandon();
  for (Id id = 0; id < graph.size() && !report.violation && graph.size() < most_states; ++id) {
    graph.begin_edges(id);
    for (std::uint8_t k = 0; k == 0 || (k < actions.size() && !report.violation); ++k) {
      ++report.executions;
      run_to(graph, id);
      if (k == 0) execution_.next(actions);
      Path way;
      if (k < actions.size()) {
        way.push_back({actions[k], k});
        execution_.step(actions[k]);
        const Id to = graph.insert(execution_.key(), execution_.moment(), id, way.front()).first;
        graph.add_edge(to, way.front());
      }
      const bool wrong = execution_.wrong().has_value();
      execution_.abandon();
      if (!wrong) continue;
      const Path path = graph.path_to(id);
      way.insert(way.begin(), path.begin(), path.end());
      report.violation = explained(schedule_of(way));
    }
  }
  report.complete = !report.violation && graph.size() < most_states;
  report.states = graph.size();
  report.longest = graph.path_to(graph.size() - 1).size();
  if (report.complete) judge(graph, report);
  report.steps = execution_.steps() - before;
  return report;
}

namespace {

/// What the finished graph says about one agent's waiting, added to what it says about the others.
struct Gathered {
  std::uint32_t promised_from = 0;
  std::optional<Lasso> livelock, starvation, unbounded;
  std::vector<std::uint32_t> starving;
  Bypass worst;

  bool promised_starve() const { return !starving.empty() && starving.back() >= promised_from; }

  void add(const StateGraph& graph, std::uint32_t agent) {
    if (!livelock) livelock = fair_cycle_without(graph, agent, Exclusion::kEverybody);
    if (auto cycle = fair_cycle_without(graph, agent, Exclusion::kThisAgent)) {
      if (!promised_starve()) starvation = std::move(cycle);
      starving.push_back(agent);
    }
    if (unbounded) return;
    Bypass bypass = bypass_of(graph, agent);
    if (bypass.unbounded) unbounded = std::move(bypass.unbounded);
    if (bypass.most > worst.most) worst = std::move(bypass);
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
    std::uint32_t last;  // who went last once it is taken
  };
  static constexpr std::uint32_t kNobody = kMostExplored;

  StateGraph graph;
  std::vector<std::uint32_t> last;  // of each state of the graph
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
  /// What can follow the state in which the execution is, the graph's newest.
  void sort_out(const Execution& execution, const std::vector<Action>& actions) {
    const Id id = graph.size() - 1;
    const bool goes_on = last[id] != kNobody && execution.could_go_on(last[id]);
    for (std::size_t k = 0; k < actions.size(); ++k) {
      const Choice choice{actions[k], static_cast<std::uint8_t>(k)};
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
