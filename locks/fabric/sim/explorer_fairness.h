// What a finished state graph says about waiting: fair cycles, and who is passed by how often.
//
// *What.* A cycle is weakly fair when each agent that always could take a step of its own takes
// one, and each that always has a posted operation under way has one happen. An agent that rests
// owes no step. An operation that waits for another one's split read-modify-write to end counts as
// possible: so it happens in the end. The condition is kept for each agent's posted operations
// taken together: an agent that goes on for ever without a flush of one of them may be shown as
// unfair to somebody, never the reverse. A fair cycle in which an agent wants in all the time and
// never enters starves it; one in which nobody enters meanwhile is a livelock. Justice of this kind
// grows with the set of states, so a strongly connected component contains a fair cycle exactly if
// it is fair as a whole.
// *Bypass* of an agent: how often others enter between its doorway and its entering, at most, over
// all orders, fair or not.
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
  Order stem;
  Order loop;
};

enum class Exclusion { kThisAgent, kEverybody };

/// A fair cycle in which `agent` wants in all the time and does not enter, or nobody does.
std::optional<Lasso> fair_cycle_without(const StateGraph& graph, std::uint32_t agent,
                                        Exclusion who);

struct Bypass {
  std::uint64_t most = 0;
  Order witness;                   // an order that shows so many
  std::optional<Lasso> unbounded;  // a cycle in which others enter past the agent; `most` is void
};

Bypass bypass_of(const StateGraph& graph, std::uint32_t agent);

}  // namespace keyway::fabric::sim
