// QueueTree: a queue for every element of the machine, from the smallest up to the whole.
//
// *What.* The queues of RMA-MCS, and of RMA-RW's writers. An agent climbs: it queues in its
// smallest element; at the front it queues for the element in the parent's queue, and so on up to
// the root. Who is at the front of an element's queue may be handed the parent as well, up to the
// level's threshold of times in a row: then the lock has stayed near, and the climb ends there. At
// the root a policy of the lock's own has its say (RootPolicy), at no cost where there is none.
// *Handing over.* A front tells the next in its queue a payload: how many times in a row the queue
// has been passed on together with all above it (a count), or kAcquireParent: climb on yourself. At
// the root all that is handed over is the root: a count, or kModeChange: the write phase has ended.
// *Thread safety.* A tree object belongs to its agent, and is made for each call. Words are shared.
// *Invariants.*
//   T1  An agent queues with nodes of its own only, one for each level, so it waits on its own
//   memory. T2  An element stands in its parent's queue by at most one node: that of the agent that
//   climbed.
//       That node's parent link (word 2) is set before it is needed: an agent finds its own nodes
//       from the leaf up.
//   T3  An agent that leaves while its element keeps the parent lends its nodes above: it marks
//   each
//       `lent`, with what it was told in that queue, and stores its address in the element's `up`
//       word, all before it hands the element on. So `up` names the element's node whenever the
//       front of its queue has not climbed itself.
//   T4  Whoever releases a queue in which a lent node stands makes that node idle, after it has
//       passed the queue on; from then on nobody but its owner touches it.
//   T5  The parent is passed on or emptied before the element's next is told to climb. A front that
//       is told so, or comes first, does not look at `up`.
//   T6  An agent that gives up at some level holds nothing above it: it tells the next in each of
//       the queues below, from the top down, to climb, or empties them.
//   T7  A queue of level i is handed on with all above it at most `most_passings[i]` times in a
//   row.
// *Source.* HPDC'16 sections 3.2.2 to 3.3.4, Listings 4, 5, 7, 8. Deviations: the listings release
// the parent by the releaser's own node, though it may never have stood in the parent's queue: T2
// to T4 are ours. An agent hands a queue on to the first that has not given up (mcs_queue.h D2).
#pragma once

#include <array>
#include <concepts>
#include <cstdint>

#include "keyway/locks/distributed/mcs_queue.h"
#include "keyway/locks/distributed/satellite.h"

namespace keyway::locks {

/// Payloads above all counts.
inline constexpr std::uint64_t kAcquireParent = kMaxPayload;
inline constexpr std::uint64_t kModeChange = kMaxPayload - 1;
constexpr bool is_count(std::uint64_t payload) { return payload < kModeChange; }

/// Word 2 of a node in a tree: the index of its agent's node one step up.
inline constexpr std::uint64_t kParentOffset = 16;

/// T_L,i for levels 2 and below, by level; 0 and 1 are unused.
using MostPassings = std::array<std::uint64_t, Topology::kMostLevels + 1>;

/// What holds a tree: the leaf's node, the step at which the climb ended, and what was told there.
struct TreeHold {
  std::uint32_t node = 0;
  std::uint32_t top = 0;
  std::uint64_t told = 0;
};

/// How an agent comes to the front of the root without the write phase.
enum class RootArrival : std::uint8_t {
  kFirst,       // nobody was in the root's queue
  kModeChange,  // whoever was in front has ended the write phase
};

/// What the root's front owes to others than writers. Objects are made for each call.
template <class P>
concept RootPolicy = requires(P& policy, RootArrival arrival, Deadline deadline,
                              std::uint64_t count) {
  // Begins the write phase. False when the deadline passed first, with nothing left behind.
  { policy.seize(arrival, deadline) } -> std::same_as<bool>;
  // The same, at once or not at all.
  { policy.try_seize(arrival) } -> std::same_as<bool>;
  // At release: whether the next writer may have the write phase, which was passed on `count`
  // times.
  { policy.goes_on(count) } -> std::same_as<bool>;
  // Ends the write phase: no writer is there to take it, or it does not go on. The root is the
  // caller's until this returns; whoever comes to its front next has to seize the phase.
  { policy.yield() } -> std::same_as<void>;
};

/// Writers only: the phase never ends.
struct WritersOnly {
  static bool seize(RootArrival, Deadline) { return true; }
  static bool try_seize(RootArrival) { return true; }
  static bool goes_on(std::uint64_t) { return true; }
  static void yield() {}
};

template <fabric::Endpoint E>
class QueueTree {
 public:
  QueueTree(LockAgent<E>& agent, const LockSite& site, const MostPassings& most_passings)
      : agent_(agent), site_(site), most_passings_(most_passings), path_(agent.path) {}

  /// Takes the whole tree. kTimeout: the deadline passed, nothing is left behind (T6);
  /// kUnavailable: the agent has too few nodes. Counts `contended`.
  template <RootPolicy P>
  Result<TreeHold> climb(P&& policy, Deadline deadline);
  /// The same without waiting: kBusy when a queue on the way is not empty.
  template <RootPolicy P>
  Result<TreeHold> try_climb(P&& policy);
  /// Gives it back: to the next of the smallest element that may go on. Counts `handovers`.
  template <RootPolicy P>
  void descend(const TreeHold& hold, P&& policy);

  /// Who waits in the queues on the way of the agent that holds the tree by `leaf`, smallest
  /// element first. Agents that wait for other elements below are not seen.
  void dump(fabric::Address leaf, std::vector<fabric::AgentId>& queue);

 private:
  /// The node by which a queue is held: a node of this agent's own, or a lent one.
  struct Front {
    fabric::Address node;
    bool own = true;
    bool marked = false;  // own, and marked lent for nothing
    std::uint32_t index = 0;
    std::uint64_t count = 0;
  };
  using Nodes = std::array<std::uint32_t, Topology::kMostLevels>;

  LockAgent<E>& agent_;
  const LockSite& site_;
  const MostPassings& most_passings_;
  const TreePath& path_;
};

}  // namespace keyway::locks
