// QueueTree: a queue for every element of the machine, from the smallest element up to the machine.
//
// *What.* The queues of RMA-MCS, and of RMA-RW's writers. An agent climbs: it queues in its
// smallest element; at the front it queues for the element in the parent's queue, and so on up to
// the root. The front of an element's queue may receive the parent as well, up to the level's
// threshold of times in a row: then the lock has stayed near, and the climb ends there. At the root
// the lock's own policy decides (RootPolicy), at no cost if there is none.
// *Handing over.* A front passes a payload to the next agent in its queue: how many times in a row
// the queue has been passed on together with all above it (a count), or kAcquireParent: climb on
// yourself. At the root the payload is about the root alone: a count, or kModeChange: the write
// phase has ended.
// *Thread safety.* A tree object belongs to its agent, and is made for each call. Words are shared.
// *Invariants.*
//   T1  An agent queues with its own nodes only, one for each level, so it waits on its own memory.
//   T2  An element is in its parent's queue with at most one node, the node of the agent that
//       climbed. That node's parent link (word 2) is set before it is needed: an agent finds its
//       own nodes from the leaf up.
//   T3  An agent that leaves while its element keeps the parent delegates its nodes above: it marks
//       each `delegated`, with the payload that it received in that queue, and stores its address
//       in the element's `up` word, all before it passes the element on. So `up` names the
//       element's node whenever the front of its queue has not climbed itself.
//   T4  The agent that releases a queue with a delegated node in it makes that node idle, after it
//       has passed the queue on; from then on only the node's owner touches it.
//   T5  The parent is passed on or emptied before the element's next agent receives kAcquireParent,
//       so that the lock moves on at once. A front that receives it, or comes first, does not read
//       `up`.
//   T6  An agent that gives up at some level holds nothing above it: in each of the queues below,
//       from the top down, it tells the next agent to climb, or empties the queue.
//   T7  A queue of level i is passed on with all above it at most `most_passings[i]` times in a
//       row.
// *Source.* HPDC'16 sections 3.2.2 to 3.3.4, Listings 4, 5, 7, 8. Deviations: the listings release
// the parent by the releaser's own node, although it may never have been in the parent's queue: T2
// to T4 are ours. An agent passes a queue on to the first agent that has not given up (mcs_queue.h
// D2).
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "keyway/locks/distributed/by_class.h"
#include "keyway/locks/distributed/mcs_queue.h"
#include "keyway/locks/distributed/satellite.h"
#include "keyway/locks/distributed/tree_path.h"

namespace keyway::locks {

/// Payloads above all counts.
inline constexpr std::uint64_t kAcquireParent = kMaxPayload;
inline constexpr std::uint64_t kModeChange = kMaxPayload - 1;
constexpr bool is_count(std::uint64_t payload) { return payload < kModeChange; }

/// Word 2 of a node in a tree: the index of its agent's node one step up.
inline constexpr std::uint64_t kParentOffset = 16;

/// T_L,i for levels 2 and below, by level; 0 and 1 are unused.
using MostPassings = std::array<std::uint64_t, Topology::kMaxLevels + 1>;

/// Levers t_l2, t_l3, ... and t_l for all of them; refuses 0.
Result<MostPassings> take_passings(LockParams& params, std::uint64_t fallback);

/// The state of a holder of a tree: the leaf's node, the step at which the climb ended, and the
/// payload there.
struct TreeHold {
  std::uint32_t node = 0;
  std::uint32_t top = 0;
  std::uint64_t payload = 0;
};

/// The two ways to the front of the root without the write phase.
enum class RootArrival : std::uint8_t {
  kFirst,       // the root's queue was empty
  kPhaseEnded,  // the predecessor has ended the write phase
};

/// The duties of the root's front towards readers. Objects are made for each call.
template <class P>
concept RootPolicy = requires(P& policy, RootArrival arrival, Deadline deadline,
                              std::uint64_t count) {
  // Whether goes_on() reads its count. If not, the tree does not count: a count costs a read of a
  // delegated node, and an unbounded count prevents states from repeating in exploration.
  {std::bool_constant<std::remove_reference_t<P>::kCounts>()};
  // Begins the write phase. False when the deadline passed first, with nothing left behind.
  { policy.seize(arrival, deadline) } -> std::same_as<bool>;
  // The same, at once or not at all.
  { policy.try_seize(arrival) } -> std::same_as<bool>;
  // At release: whether the next writer may have the write phase, which was passed on `count`
  // times.
  { policy.goes_on(count) } -> std::same_as<bool>;
  // Ends the write phase: no writer takes it, or it must not continue. The root is the caller's
  // until this returns; the next front must seize the phase.
  { policy.yield() } -> std::same_as<void>;
};

/// Writers only: the phase never ends.
struct WritersOnly {
  static constexpr bool kCounts = false;
  static bool seize(RootArrival, Deadline) { return true; }
  static bool try_seize(RootArrival) { return true; }
  static bool goes_on(std::uint64_t) { return true; }
  static void yield() {}
};

/// The agent's own path; computed once.
template <fabric::Endpoint E>
const TreePath& path_of(LockAgent<E>& agent) {
  return agent.template cache<TreePath>([&] { return TreePath::of(agent.ep, agent.ep.rank()); });
}

template <fabric::Endpoint E>
class QueueTree {
 public:
  QueueTree(LockAgent<E>& agent, const LockSite& site, const MostPassings& most_passings)
      : agent_(agent), site_(site), most_passings_(most_passings), path_(path_of(agent)) {}

  /// Takes the whole tree. kTimeout: the deadline passed, nothing is left behind (T6);
  /// kUnavailable: the agent has too few nodes. Counts `contended`.
  template <RootPolicy P>
  Result<TreeHold> climb(P&& policy, Deadline deadline);
  /// The same without waiting: kBusy when a queue on the way is not empty.
  template <RootPolicy P>
  Result<TreeHold> try_climb(P&& policy);
  /// Releases the tree: to the next agent of the smallest element that may continue. Counts
  /// `handovers`.
  template <RootPolicy P>
  void descend(const TreeHold& hold, P&& policy);

  /// For a dump: the leaf's node of the agent at the front of the whole tree, from the root down;
  /// null if there is none or it was not found. `queue` gets the agents that wait in the queues on
  /// its path, smallest element first. Agents that wait for other elements below are not included.
  fabric::Address dump(std::vector<fabric::AgentId>& queue);

 private:
  /// The node by which a queue is held: one of this agent's own, or a delegated one.
  struct Front {
    fabric::Address node;
    bool own = true;
    std::uint32_t index = 0;  // index of this agent's node
    bool marked = false;      // it was marked delegated, but is not delegated
    std::uint64_t count = 0;
  };
  using Nodes = std::array<std::uint32_t, Topology::kMaxLevels>;

  /// Calls f(queue, access) with the queue of a step, in its class.
  template <class F>
  auto at(std::uint32_t step, F&& f) {
    const TreePath::Step& s = path_.steps[step];
    const fabric::Address tail = step == 0 ? site_.line : tail_word(site_, s.leader, s.level);
    if (s.cpu) return f(McsQueue<E, fabric::CpuClass>(agent_, fabric::cpu, tail), fabric::cpu);
    return f(McsQueue<E, fabric::RmaClass>(agent_, fabric::rma, tail), fabric::rma);
  }
  fabric::Address up(const TreePath& path, std::uint32_t step) const {
    return up_word(site_, path.steps[step].leader, path.steps[step].level);
  }
  static std::uint64_t count_of(std::uint64_t payload) { return is_count(payload) ? payload : 0; }

  template <class Enter, class Seize>
  Result<TreeHold> climb_by(Code failure, Enter&& enter, Seize&& seize);
  void back_out(std::uint32_t step, const Nodes& nodes);
  template <class P>
  void leave(std::uint32_t step, const TreeHold& hold, const Front& front, P& policy);
  template <class P>
  void leave_root(const Front& front, P& policy);
  Front parent(std::uint32_t step, const TreeHold& hold, const Front& front, bool marked,
               bool counts);
  std::uint32_t mark_above(std::uint32_t step, const TreeHold& hold, fabric::Address node,
                           Nodes& delegated);
  void retire(const Front& front);

  LockAgent<E>& agent_;
  const LockSite& site_;
  const MostPassings& most_passings_;
  const TreePath& path_;
};

template <fabric::Endpoint E>
template <RootPolicy P>
Result<TreeHold> QueueTree<E>::climb(P&& policy, Deadline deadline) {
  const Deadline until = deadline.started(agent_.ep.now_ns());
  bool waited = false;
  const auto enter = [&](auto& queue, std::uint32_t node) {
    const Entered entered = queue.enter(node, until);
    if (entered.how != Entered::How::kFirst && !waited) ++agent_.stats.contended;
    waited = waited || entered.how != Entered::How::kFirst;
    return entered;
  };
  return climb_by(Code::kTimeout, enter,
                  [&](RootArrival arrival) { return policy.seize(arrival, until); });
}

template <fabric::Endpoint E>
template <RootPolicy P>
Result<TreeHold> QueueTree<E>::try_climb(P&& policy) {
  const auto enter = [&](auto& queue, std::uint32_t node) {
    if (queue.try_enter(node)) return Entered();
    agent_.nodes.recycle(node);
    return Entered{.how = Entered::How::kExpired};
  };
  return climb_by(Code::kBusy, enter,
                  [&](RootArrival arrival) { return policy.try_seize(arrival); });
}

template <fabric::Endpoint E>
template <class Enter, class Seize>
Result<TreeHold> QueueTree<E>::climb_by(Code failure, Enter&& enter, Seize&& seize) {
  Nodes nodes{};
  for (std::uint32_t step = path_.depth; step-- > 0;) {
    const auto node = at(step, [](auto queue, auto) { return queue.prepare(); });
    if (!node.ok()) {
      back_out(step + 1, nodes);
      return node.status();
    }
    nodes[step] = *node;
    if (step + 1 < path_.depth) {  // T2; our own memory
      agent_.ep.store(fabric::cpu, agent_.nodes.address(nodes[step + 1]) + kParentOffset, *node);
    }
    const Entered entered = at(step, [&](auto queue, auto) { return enter(queue, *node); });
    if (entered.how == Entered::How::kExpired) {
      back_out(step + 1, nodes);
      return failure;
    }
    const bool handed = entered.how == Entered::How::kHanded;
    const TreeHold hold{nodes[path_.depth - 1], step, entered.payload};
    if (handed && is_count(entered.payload)) return hold;
    if (step == 0 && seize(handed ? RootArrival::kPhaseEnded : RootArrival::kFirst)) return hold;
  }
  back_out(0, nodes);
  return failure;
}

/// T6: gives up the fronts from `step` down.
template <fabric::Endpoint E>
void QueueTree<E>::back_out(std::uint32_t step, const Nodes& nodes) {
  for (; step < path_.depth; ++step) {
    at(step, [&](auto queue, auto) {
      queue.pass(agent_.nodes.address(nodes[step]), step == 0 ? kModeChange : kAcquireParent);
    });
    agent_.nodes.recycle(nodes[step]);
  }
}

template <fabric::Endpoint E>
template <RootPolicy P>
void QueueTree<E>::descend(const TreeHold& hold, P&& policy) {
  const std::uint32_t leaf = path_.depth - 1;
  leave(leaf, hold,
        {.node = agent_.nodes.address(hold.node),
         .index = hold.node,
         .count = hold.top == leaf ? count_of(hold.payload) : 0},
        policy);
}

template <fabric::Endpoint E>
template <class P>
void QueueTree<E>::leave(std::uint32_t step, const TreeHold& hold, const Front& front, P& policy) {
  if (step == 0) return leave_root(front, policy);
  at(step, [&](auto queue, auto) {
    fabric::Address last = front.node;
    Nodes delegated{};
    std::uint32_t marked = 0;
    if (front.count < most_passings_[path_.steps[step].level]) {  // T7
      const fabric::Address next = queue.linked(front.node);
      if (!next.is_null()) {
        if (front.own) marked = mark_above(step, hold, front.node, delegated);  // T3
        last = queue.hand_over(front.node, next, front.count + 1);
      }
    }
    if (last.is_null()) {
      agent_.stats.handed_over(path_.steps[step].level);
      for (std::uint32_t i = 0; i < marked; ++i) agent_.nodes.delegate(delegated[i]);
    } else {
      const bool counts = step > 1 || P::kCounts;
      const bool was_marked = marked != 0 || front.marked;  // from here, or from further below
      leave(step - 1, hold, parent(step, hold, front, was_marked, counts), policy);  // T5
      queue.finish(front.node, last, kAcquireParent);
    }
    retire(front);
  });
}

template <fabric::Endpoint E>
template <class P>
void QueueTree<E>::leave_root(const Front& front, P& policy) {
  at(0, [&](auto queue, auto) {
    const fabric::Address next = queue.linked(front.node);
    fabric::Address last = front.node;
    if (policy.goes_on(front.count) && !next.is_null()) {
      last = queue.hand_over(front.node, next, P::kCounts ? front.count + 1 : 0);
    }
    bool handed = last.is_null();
    if (!handed) {
      policy.yield();
      handed = queue.finish(front.node, last, kModeChange);
    }
    if (handed) agent_.stats.handed_over(path_.steps[0].level);
    retire(front);
  });
}

/// The node of the element of `step` in its parent's queue.
template <fabric::Endpoint E>
auto QueueTree<E>::parent(std::uint32_t step, const TreeHold& hold, const Front& front, bool marked,
                          bool counts) -> Front {
  E& ep = agent_.ep;
  if (front.own && step > hold.top) {
    const auto index = static_cast<std::uint32_t>(ep.load(fabric::cpu, front.node + kParentOffset));
    return {.node = agent_.nodes.address(index),
            .index = index,
            .marked = marked,
            .count = step - 1 == hold.top ? count_of(hold.payload) : 0};
  }
  Front delegated{.own = false};
  delegated.node = at(step, [&](auto, auto access) {
    return fabric::Address::from_word(ep.load(access, up(path_, step)));
  });
  if (!counts) return delegated;
  delegated.count = count_of(node_payload(ByClass(ep).load(delegated.node + kStatusOffset)));
  return delegated;
}

/// T3: marks this agent's nodes above its node at `step`, and stores where they are. Returns how
///     many.
template <fabric::Endpoint E>
std::uint32_t QueueTree<E>::mark_above(std::uint32_t step, const TreeHold& hold,
                                       fabric::Address node, Nodes& delegated) {
  E& ep = agent_.ep;
  std::uint32_t marked = 0;
  for (; step > hold.top; --step) {
    const auto index = static_cast<std::uint32_t>(ep.load(fabric::cpu, node + kParentOffset));
    node = agent_.nodes.address(index);
    const std::uint64_t count = step - 1 == hold.top ? count_of(hold.payload) : 0;
    ep.store(fabric::cpu, node + kStatusOffset, delegated_with(count));
    at(step, [&](auto, auto access) { ep.store(access, up(path_, step), node.word()); });
    delegated[marked++] = index;
  }
  return marked;
}

/// The queue has been passed on or emptied, and no agent looks for this node there any more.
template <fabric::Endpoint E>
void QueueTree<E>::retire(const Front& front) {
  if (!front.own) {
    ByClass(agent_.ep).store(front.node + kStatusOffset, kNodeIdle);  // T4
    return;
  }
  if (front.marked) agent_.ep.store(fabric::cpu, front.node + kStatusOffset, kNodeIdle);
  agent_.nodes.recycle(front.index);
}

template <fabric::Endpoint E>
fabric::Address QueueTree<E>::dump(std::vector<fabric::AgentId>& queue) {
  std::array<std::vector<fabric::AgentId>, Topology::kMaxLevels> waiting;
  fabric::Address front = dump_queue(agent_, site_.line, waiting[0]);
  std::uint32_t step = 0;
  while (!front.is_null()) {  // own or delegated, by an agent of the element in that queue
    const TreePath path = TreePath::of(agent_.ep, front.rank());
    if (++step >= path.depth) break;
    const TreePath::Step& below = path.steps[step];
    front = dump_queue(agent_, tail_word(site_, below.leader, below.level), waiting[step]);
  }
  for (auto at = waiting.rbegin(); at != waiting.rend(); ++at) {
    queue.insert(queue.end(), at->begin(), at->end());
  }
  return front;
}

}  // namespace keyway::locks
