#include "keyway/locks/fabric/sim/explorer_fairness.h"

#include <algorithm>
#include <functional>

namespace keyway::fabric::sim {
namespace {

using Id = StateGraph::Id;

// The part of a graph that an analysis is about: some of its states, and some edges between them.
struct Part {
  const StateGraph& graph;
  std::function<bool(const Moment&)> has;
  std::function<bool(const Moment&, const Moment&)> leads = [](auto&, auto&) { return true; };

  bool contains(Id id) const { return has(graph.state(id).moment); }
  bool contains(Id from, const StateGraph::Edge& edge) const {
    return contains(edge.to) && leads(graph.state(from).moment, graph.state(edge.to).moment);
  }
};

bool somebody_enters(const Moment& from, const Moment& to) { return from.entering(to) != 0; }

// Strongly connected components by Tarjan's algorithm, on an explicit stack. A component's number
// is above those of all components that it leads to.
class Components {
 public:
  explicit Components(const Part& part)
      : part_(part), of_(part.graph.size(), StateGraph::kNone), low_(part.graph.size(), 0) {
    for (Id id = 0; id < part.graph.size(); ++id) {
      if (low_[id] == 0 && part.contains(id)) visit(id);
    }
  }
  Id count() const { return count_; }
  /// The component of a state, kNone outside the part.
  Id of(Id id) const { return of_[id]; }
  /// Whether an edge of the part stays within its component.
  bool inner(Id from, const StateGraph::Edge& edge) const {
    return of_[from] == of_[edge.to] && part_.contains(from, edge);
  }

 private:
  struct Frame {
    Id id;
    Id index;  // when it was found
    std::size_t next_edge;
  };

  void push(Id id) {
    low_[id] = ++found_;
    frames_.push_back({id, found_, 0});
    open_.push_back(id);
  }
  void visit(Id root) {
    push(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const auto edges = part_.graph.edges(frame.id);
      if (frame.next_edge < edges.size()) {
        const auto& edge = edges[frame.next_edge++];
        if (!part_.contains(frame.id, edge)) continue;
        if (low_[edge.to] == 0) {
          push(edge.to);
        } else if (of_[edge.to] == StateGraph::kNone) {  // still open
          low_[frame.id] = std::min(low_[frame.id], low_[edge.to]);
        }
        continue;
      }
      close(frame);
      const Id low = low_[frame.id];
      frames_.pop_back();
      if (frames_.empty()) continue;
      Id& above = low_[frames_.back().id];
      above = std::min(above, low);  // it is greater for a closed component
    }
  }
  void close(const Frame& frame) {
    if (low_[frame.id] != frame.index) return;
    Id member;
    do {
      member = open_.back();
      open_.pop_back();
      of_[member] = count_;
    } while (member != frame.id);
    ++count_;
  }

  const Part& part_;
  std::vector<Id> of_;
  std::vector<Id> low_;  // 0: not found yet
  std::vector<Frame> frames_;
  std::vector<Id> open_;
  Id found_ = 0;
  Id count_ = 0;
};

// The steps that a component owes its agents, and the steps that it takes.
struct Justice {
  Id least = StateGraph::kNone;     // its state with the smallest number
  std::uint64_t always_go = ~0ULL;  // could take a step of their own in every state
  std::uint64_t always_fly = ~0ULL;
  std::uint64_t gone = 0;  // take one in some edge
  std::uint64_t flown = 0;
  bool cycles = false;

  bool fair() const { return cycles && !(always_go & ~gone) && !(always_fly & ~flown); }
};

std::vector<Justice> justice_of(const Part& part, const Components& components) {
  std::vector<Justice> all(components.count());
  for (Id id = 0; id < part.graph.size(); ++id) {
    if (components.of(id) == StateGraph::kNone) continue;
    Justice& justice = all[components.of(id)];
    justice.least = std::min(justice.least, id);
    const Moment& moment = part.graph.state(id).moment;
    justice.always_go &= moment.can_go;
    justice.always_fly &= moment.in_flight;
    for (const auto& edge : part.graph.edges(id)) {
      if (!components.inner(id, edge)) continue;
      justice.cycles = true;
      const std::uint64_t bit = 1ULL << edge.by.action.agent;
      (edge.by.action.kind == Action::Kind::kPosted ? justice.flown : justice.gone) |= bit;
    }
  }
  return all;
}

// Walks within one component, by shortest ways; the last step may lead out of it.
class Walk {
 public:
  using EdgeGoal = std::function<bool(Id from, const StateGraph::Edge&)>;
  using StateGoal = std::function<bool(Id)>;

  Walk(const Part& part, const Components& components, Id at)
      : part_(part), components_(components), at_(at) {}

  /// To the nearest edge that is a goal, and over it.
  void over(const EdgeGoal& goal) {
    go(goal, [](Id) { return false; });
  }
  /// To the nearest state that is a goal; nowhere when it is there.
  void to(const StateGoal& goal) {
    if (!goal(at_)) go([](Id, const auto&) { return false; }, goal);
  }
  const Schedule& path() const { return path_; }
  Id at() const { return at_; }

 private:
  void go(const EdgeGoal& edge_goal, const StateGoal& state_goal) {
    std::unordered_map<Id, std::pair<Id, Choice>> from;  // how each was reached
    std::vector<Id> queue{at_};
    const auto arrive = [&](Id last, const StateGraph::Edge& edge) {
      Schedule way{edge.by};
      for (Id id = last; id != at_; id = from.at(id).first) way.push_back(from.at(id).second);
      path_.insert(path_.end(), way.rbegin(), way.rend());
      at_ = edge.to;
    };
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const Id id = queue[head];
      for (const auto& edge : part_.graph.edges(id)) {
        if (!part_.contains(id, edge)) continue;
        if (edge_goal(id, edge) || state_goal(edge.to)) return arrive(id, edge);
        if (!components_.inner(id, edge)) continue;
        if (edge.to == at_ || !from.try_emplace(edge.to, id, edge.by).second) continue;
        queue.push_back(edge.to);
      }
    }
    KW_CHECK_MSG(false, "a walk in a component", "its goal is not in it");
  }

  const Part& part_;
  const Components& components_;
  Id at_;
  Schedule path_;
};

/// A cycle through the component from its first state that does what fairness asks of it.
Lasso fair_lasso(const Part& part, const Components& components, const Justice& justice) {
  Walk walk(part, components, justice.least);
  const Id home = components.of(justice.least);
  const auto by = [&components](std::uint32_t agent, bool posted) {
    return [&components, agent, posted](Id from, const StateGraph::Edge& edge) {
      return components.inner(from, edge) && edge.by.action.agent == agent &&
             (edge.by.action.kind == Action::Kind::kPosted) == posted;
    };
  };
  const auto without = [&](std::uint32_t agent, std::uint64_t Moment::*mask) {
    return [&, agent, mask](Id id) {
      return components.of(id) == home && !(part.graph.state(id).moment.*mask >> agent & 1);
    };
  };
  for (std::uint32_t i = 0; i < kMaxExplored; ++i) {
    if (justice.gone >> i & 1) {
      walk.over(by(i, false));
    } else {
      walk.to(without(i, &Moment::can_go));
    }
    if (justice.flown >> i & 1) {
      walk.over(by(i, true));
    } else {
      walk.to(without(i, &Moment::in_flight));
    }
  }
  walk.to([&](Id id) { return id == justice.least; });
  return {part.graph.path_to(justice.least), walk.path()};
}

}  // namespace

std::optional<Lasso> fair_cycle_without(const StateGraph& graph, std::uint32_t agent,
                                        Exclusion who) {
  Part part{graph, [agent](const Moment& moment) { return moment.wants_in(agent); }};
  if (who == Exclusion::kEverybody) {
    part.leads = [](const Moment& from, const Moment& to) { return !somebody_enters(from, to); };
  }
  const Components components(part);
  for (const Justice& justice : justice_of(part, components)) {
    if (justice.fair()) return fair_lasso(part, components, justice);
  }
  return {};
}

namespace {

/// The states of the part, those of a component after those of all that it leads to.
std::vector<Id> members_in_order(const Part& part, const Components& components) {
  std::vector<Id> members;
  for (Id id = 0; id < part.graph.size(); ++id) {
    if (components.of(id) != StateGraph::kNone) members.push_back(id);
  }
  std::stable_sort(members.begin(), members.end(),
                   [&](Id a, Id b) { return components.of(a) < components.of(b); });
  return members;
}

bool passes(const Part& part, Id from, const StateGraph::Edge& edge) {
  return somebody_enters(part.graph.state(from).moment, part.graph.state(edge.to).moment);
}

/// A schedule from the start in which others enter `most` times past the agent.
Schedule witness_of(const Part& part, const Components& components,
                    const std::vector<std::uint64_t>& most, Id start) {
  Walk walk(part, components, start);
  for (std::uint64_t left = most[components.of(start)]; left > 0;) {
    walk.over([&](Id from, const StateGraph::Edge& edge) {
      return most[components.of(edge.to)] + (passes(part, from, edge) ? 1 : 0) == left &&
             (passes(part, from, edge) || !components.inner(from, edge));
    });
    left = most[components.of(walk.at())];
  }
  Schedule path = part.graph.path_to(start);
  path.insert(path.end(), walk.path().begin(), walk.path().end());
  return path;
}

}  // namespace

Bypass bypass_of(const StateGraph& graph, std::uint32_t agent) {
  const Part part{graph, [agent](const Moment& moment) { return moment.waits(agent); }};
  const Components components(part);
  std::vector<std::uint64_t> most(components.count(), 0);
  Id worst = StateGraph::kNone;
  for (const Id id : members_in_order(part, components)) {
    const Id own = components.of(id);
    for (const auto& edge : graph.edges(id)) {
      if (!part.contains(id, edge)) continue;
      const bool passed = passes(part, id, edge);
      if (passed && components.of(edge.to) == own) {
        Walk walk(part, components, id);
        walk.over([&](Id, const auto& other) { return &other == &edge; });
        walk.to([&](Id at) { return at == id; });
        return {0, {}, Lasso{graph.path_to(id), walk.path()}};
      }
      most[own] = std::max(most[own], most[components.of(edge.to)] + (passed ? 1 : 0));
    }
    if (worst == StateGraph::kNone || most[own] > most[components.of(worst)]) worst = id;
  }
  if (worst == StateGraph::kNone) return {};
  return {most[components.of(worst)], witness_of(part, components, most, worst), {}};
}

}  // namespace keyway::fabric::sim
