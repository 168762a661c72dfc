// Analysis of waiting in a finished state graph: fair cycles, and bypass of agents.
//
// *What.* A cycle is weakly fair if each agent that always could take its own step takes one, and
// each agent that always has a posted operation in flight has one happen. An agent that rests need
// not take a step. An operation that waits for the end of another one's split read-modify-write
// counts as possible: so it eventually happens. The condition is kept for each agent's posted
// operations taken together: an agent that runs for ever without a flush of one of them may be
// reported as treated unfairly, never the reverse. A fair cycle in which an agent always wants to
// enter and never enters starves it; a fair cycle in which also no other agent enters is a
// livelock. This kind of fairness grows with the set of states, so a strongly connected component
// contains a fair cycle exactly if it is fair as a whole.
// *Bypass* of an agent: the maximum number of entries of other agents between its doorway and its
// entering, over all schedules, fair or not.
// *Thread safety.* Functions of their arguments.
// *Source.* Components: Tarjan, SIAM J. Comput. 1 (1972). Fair components: Lichtenstein and Pnueli,
// POPL'85. Doorway and bypass: Lamport, CACM 17 (1974); Burns et al., J. ACM 29 (1982).
#pragma once

#include <cstdint>
#include <optional>

#include "keyway/locks/fabric/sim/explorer_graph.h"

namespace keyway::fabric::sim {

/// A way into a cycle, and the cycle.
struct Lasso {
  Schedule stem;
  Schedule loop;
};

enum class Exclusion { kThisAgent, kEverybody };

/// A fair cycle in which `agent` waits all the time and does not enter, or no agent does.
std::optional<Lasso> fair_cycle_without(const StateGraph& graph, std::uint32_t agent,
                                        Exclusion who);

struct Bypass {
  std::uint64_t most = 0;
  Schedule witness;                // a schedule that reaches the maximum
  std::optional<Lasso> unbounded;  // a cycle in which others enter past the agent; `most` is void
};

Bypass bypass_of(const StateGraph& graph, std::uint32_t agent);

}  // namespace keyway::fabric::sim
