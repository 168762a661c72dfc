// PlainQueue: an MCS queue that grants by plain stores, for agents that reach each other's nodes by
// different classes, some by `cpu` and some by `rma`.
//
// *What.* Members join at the tail by read-modify-writes of the one class that they all have for
// it, and wait on nodes of their own. An agent writes its own node with the `cpu` class, and the
// node of another agent with the class that it has for it. So granting cannot be a
// compare-and-swap.
// *Words of a node.* Each has one writer at a time:
//   0  next       the successor's link (waiter_link.h). By the successor; 0 by its agent
//   1  status     abandoned by its agent as it leaves, idle by the agent that steps over it
//                 (queue_node.h)
//   5  grant      1 + payload, by the granter; back to 0 by the granted agent, or by the agent that
//                 steps over it
//   7  state      turn << 8 | kWaiterStays, kWaiterLeaving or kWaiterLeft. By its agent alone. The
//                 turn counts the uses in which it may leave and is never reset
// *Leaving.* The granter stores grant, calls order() and loads state. A leaving agent stores
// kWaiterLeaving, calls fence() and loads grant. By these fences at least one of them sees the
// other's store. A leaving agent that sees no grant stores kWaiterLeft; the granter then reads
// kWaiterLeaving, waits for the decision, and steps over the node. A leaving agent that sees the
// grant takes it and stores kWaiterStays; the granter reads kWaiterStays, or kWaiterLeaving and
// then kWaiterStays, or a later turn: the grant stands. A granted agent may be gone and use its
// node again before the granter has loaded its state. Then the turn that the granter reads differs
// from the one that came with the link, or it is the same in a use that does not leave. Both mean
// that the grant stands. A turn comes again after 2^33 uses of the node, as a rule (waiter_link.h).
// It does harm only if the granter stands still for all of them, and then looks just after the
// agent has left in that turn.
// *Thread safety.* A queue object belongs to its agent; the words are shared.
// *Invariants.*
//   P1  For each grant, either the agent takes it or its granter steps over the node; never both.
//   P2  A node becomes idle only after the agent that steps over it has read its link (queue_node.h
//       N1).
//   P3  `grant` is 0 in a node that is not in a queue.
// *Source.* HPDC'16 Listings 2 and 3 and SPAA'24 Algorithm 3; leaving is ours. Dekker's pattern
// instead of one atomic decides a state, because SPAA'24 Table 1 leaves only plain 8-byte accesses.
#pragma once

#include <chrono>

#include "keyway/locks/base/log.h"
#include "keyway/locks/distributed/by_class.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/distributed/mcs_queue.h"
#include "keyway/locks/distributed/tail_swap.h"
#include "keyway/locks/distributed/waiter_link.h"

namespace keyway::locks {

/// The state of a waiter that may leave, in word 7 of its node.
enum WaiterState : std::uint64_t {
  kWaiterStays = 0,
  kWaiterLeaving = 1,  // not decided yet
  kWaiterLeft = 2,
};
inline constexpr std::uint32_t kTurnShift = 8;

constexpr std::uint64_t waiter_word(std::uint64_t turn, WaiterState state) {
  return turn << kTurnShift | state;
}

template <fabric::Endpoint E>
class PlainQueue {
 public:
  PlainQueue(LockAgent<E>& agent, fabric::Address tail, const TailRules& rules)
      : agent_(agent), ep_(agent.ep), words_(agent.ep), tail_(tail), rules_(rules) {}

  /// Joins, and waits for the front. After kExpired the caller has nothing left to do: the node is
  /// in limbo, or never was in the queue. A wait starts the deadline, so that the caller's later
  /// waits share it.
  Entered enter(std::uint32_t node, Deadline& deadline);
  /// Joins if the queue is empty.
  bool try_enter(std::uint32_t node) {
    const fabric::Address me = agent_.nodes.address(node);
    ep_.store(fabric::cpu, me + kNextOffset, 0);
    return words_.compare_swap(tail_, 0, me.word()) == 0;
  }
  /// Called at the front, which the agent's own `node` is: passes the queue to the first waiter
  /// that has not left, or leaves it empty (false). All operations that the agent has posted to the
  /// tail's rank are complete before either. Before it leaves the queue empty it calls
  /// closing(payload); the result is the payload for an agent that joins meanwhile.
  template <class Closing>
  bool pass(std::uint32_t node, std::uint64_t payload, Closing&& closing);

 private:
  static constexpr std::chrono::seconds kPatience{30};

  WaiterLinks links() const { return WaiterLinks(agent_.nodes.region()); }
  std::uint64_t open_turn(fabric::Address me);
  Entered wait_behind(fabric::Address predecessor, std::uint32_t node, std::uint64_t turn,
                      Deadline& deadline);
  void link(fabric::Address predecessor, fabric::Address me, std::uint64_t turn);
  bool leave(fabric::Address me, std::uint64_t turn);
  template <class Closing>
  bool empties(fabric::Address at, std::uint64_t& payload, Closing& closing);
  template <class Closing>
  bool pass_on(fabric::Address mine, std::uint64_t next, std::uint64_t payload, Closing& closing);
  std::uint64_t linked(fabric::Address at) { return words_.load(at + kNextOffset); }
  WaiterLink link_of(fabric::Address at, std::uint64_t next);
  bool grant(const WaiterLink& next, std::uint64_t payload);
  void set_idle(fabric::Address at);
  template <class Predicate>
  std::uint64_t wait_for(fabric::Address word, Predicate holds);

  LockAgent<E>& agent_;
  E& ep_;
  ByClass<E> words_;
  fabric::Address tail_;
  const TailRules& rules_;
};

template <fabric::Endpoint E>
Entered PlainQueue<E>::enter(std::uint32_t node, Deadline& deadline) {
  const fabric::Address me = agent_.nodes.address(node);
  ep_.store(fabric::cpu, me + kNextOffset, 0);
  const std::uint64_t turn = deadline.is_never() ? 0 : open_turn(me);
  const fabric::WaitResult before = swap_tail(ep_, words_, rules_, tail_, me.word(), deadline);
  if (before.value == 0 && !before.expired) [[likely]]
    return {};
  if (before.expired) {
    agent_.nodes.recycle(node);
    return {.how = Entered::How::kExpired};
  }
  return wait_behind(fabric::Address::from_word(before.value), node, turn, deadline);
}

/// The part of enter() that waits; out of line, so that the other is short.
template <fabric::Endpoint E>
[[gnu::noinline]] Entered PlainQueue<E>::wait_behind(fabric::Address predecessor,
                                                     std::uint32_t node, std::uint64_t turn,
                                                     Deadline& deadline) {
  const fabric::Address me = agent_.nodes.address(node);
  if (turn != 0) deadline = deadline.started(ep_.now_ns());
  link(predecessor, me, turn);
  const auto granted = [](std::uint64_t grant) { return grant != 0; };
  auto waited = ep_.wait_until(me + kGrantOffset, granted, deadline);
  if (waited.expired) {
    if (leave(me, turn)) {
      agent_.nodes.abandon(node);
      return {.how = Entered::How::kExpired};
    }
    // Seen by a load so far, and about to be stored over (ORDERING.md, O5).
    waited = ep_.wait_until(me + kGrantOffset, granted, Deadline::never());
  }
  ep_.store(fabric::cpu, me + kGrantOffset, 0);  // P3
  return {.how = Entered::How::kHanded, .payload = waited.value - 1};
}

/// The number of a use in which the agent may leave.
template <fabric::Endpoint E>
std::uint64_t PlainQueue<E>::open_turn(fabric::Address me) {
  const std::uint64_t last = ep_.load(fabric::cpu, me + kWaiterStateOffset) >> kTurnShift;
  const std::uint64_t turn = links().next_turn(last);
  ep_.store(fabric::cpu, me + kWaiterStateOffset, waiter_word(turn, kWaiterStays));
  return turn;
}

template <fabric::Endpoint E>
void PlainQueue<E>::link(fabric::Address predecessor, fabric::Address me, std::uint64_t turn) {
  words_.post_store(predecessor + kNextOffset, links().word({me, turn}));
  ep_.flush(predecessor.rank());
}

/// True when the agent has left; false when it has been granted before.
template <fabric::Endpoint E>
bool PlainQueue<E>::leave(fabric::Address me, std::uint64_t turn) {
  ep_.store(fabric::cpu, me + kWaiterStateOffset, waiter_word(turn, kWaiterLeaving));
  ep_.fence();
  const bool granted = ep_.load(fabric::cpu, me + kGrantOffset) != 0;
  // Before the state is decided: the agent that steps over the node makes it idle, and not earlier.
  if (!granted) ep_.store(fabric::cpu, me + kStatusOffset, kNodeAbandoned);
  ep_.store(fabric::cpu, me + kWaiterStateOffset,
            waiter_word(turn, granted ? kWaiterStays : kWaiterLeft));
  return !granted;
}

template <fabric::Endpoint E>
template <class Closing>
bool PlainQueue<E>::pass(std::uint32_t node, std::uint64_t payload, Closing&& closing) {
  const fabric::Address mine = agent_.nodes.address(node);
  const std::uint64_t next = linked(mine);
  if (next == 0 && empties(mine, payload, closing)) [[likely]] {
    ep_.flush(tail_.rank());
    return false;
  }
  return pass_on(mine, next, payload, closing);
}

/// No agent is linked behind `at`. True if the queue is left empty; false if an agent has joined.
template <fabric::Endpoint E>
template <class Closing>
bool PlainQueue<E>::empties(fabric::Address at, std::uint64_t& payload, Closing& closing) {
  payload = closing(payload);
  // The agent's posted operations there are complete before the lock is free (L3). The card's
  // compare-and-swap can be ordered after them; a processor's cannot.
  if (words_.is_near(tail_)) {
    ep_.flush(tail_.rank());
  } else {
    ep_.order(tail_.rank());
  }
  return words_.compare_swap(tail_, at.word(), 0) == at.word();
}

/// The part of pass() for a successor behind `mine`, linked as `next` says or about to link; out of
/// line, so that the other part is short.
template <fabric::Endpoint E>
template <class Closing>
[[gnu::noinline]] bool PlainQueue<E>::pass_on(fabric::Address mine, std::uint64_t next,
                                              std::uint64_t payload, Closing& closing) {
  fabric::Address at = mine;
  while (true) {
    const WaiterLink link = link_of(at, next);
    const bool handed = grant(link, payload);
    if (at != mine) set_idle(at);  // P2
    at = link.node;
    next = handed ? 0 : linked(at);
    const bool left = !handed && next == 0 && empties(at, payload, closing);
    if (left) set_idle(at);  // P2
    if (handed || left) {
      ep_.flush(tail_.rank());
      return handed;
    }
  }
}

/// The successor of `at`. `next` is the link as last read: 0 if an agent is about to link itself.
template <fabric::Endpoint E>
WaiterLink PlainQueue<E>::link_of(fabric::Address at, std::uint64_t next) {
  // Our own word is about to be used again: O5.
  if (next == 0 || (at.rank() == ep_.rank() && !ep_.one_class())) {
    next = wait_for(at + kNextOffset, [](std::uint64_t seen) { return seen != 0; });
  }
  return links().link(next);
}

/// Whether the grant stands. P1.
template <fabric::Endpoint E>
bool PlainQueue<E>::grant(const WaiterLink& next, std::uint64_t payload) {
  const std::uint32_t rank = next.node.rank();
  ep_.flush(tail_.rank());
  words_.post_store(next.node + kGrantOffset, 1 + payload);
  if (next.turn == 0) {
    ep_.flush(rank);
    return true;
  }
  ep_.order(rank);
  const fabric::Pending looked = words_.post_load(next.node + kWaiterStateOffset);
  std::uint64_t state = looked.value(ep_.flush(rank));
  const std::uint64_t undecided = waiter_word(next.turn, kWaiterLeaving);
  if (state == undecided) {
    state =
        wait_for(next.node + kWaiterStateOffset, [=](std::uint64_t s) { return s != undecided; });
  }
  return state != waiter_word(next.turn, kWaiterLeft);
}

template <fabric::Endpoint E>
void PlainQueue<E>::set_idle(fabric::Address at) {
  words_.post_store(at + kGrantOffset, 0);  // P3
  ep_.order(at.rank());
  words_.post_store(at + kStatusOffset, kNodeIdle);
  ep_.flush(at.rank());
}

/// For what another agent is about to store.
template <fabric::Endpoint E>
template <class Predicate>
std::uint64_t PlainQueue<E>::wait_for(fabric::Address word, Predicate holds) {
  const auto patience = Deadline::within(kPatience);
  while (true) {
    std::uint64_t seen = 0;
    bool expired = false;
    if (word.rank() == ep_.rank()) {
      const auto waited = ep_.wait_until(word, holds, patience);
      seen = waited.value;
      expired = waited.expired;
    } else {
      expired = !ep_.retry_until([&] { return holds(seen = words_.load(word)); },
                                 fabric::Backoff::none(), patience);
    }
    if (!expired) return seen;
    log::warning("an agent of a lock's queue has stopped between two stores for 30 s");
  }
}

/// The agents that wait behind `node`, in order, for a dump. Racy by nature, so bounded.
template <fabric::Endpoint E>
void dump_plain_queue(LockAgent<E>& agent, fabric::Address node,
                      std::vector<fabric::AgentId>& queue) {
  const ByClass words(agent.ep);
  const NodeRegion& region = agent.nodes.region();
  if (!can_be_dumped(agent.ep, region, node)) return;
  auto next = words.load(node + kNextOffset);
  for (std::size_t steps = 0; next != 0 && steps < kMaxDumped; ++steps) {
    const fabric::Address waiter = WaiterLinks(region).link(next).node;
    if (!can_be_dumped(agent.ep, region, waiter)) return;
    if (words.load(waiter + kStatusOffset) != kNodeAbandoned) {
      queue.push_back(region.owner(waiter));
    }
    next = words.load(waiter + kNextOffset);
  }
}

}  // namespace keyway::locks
