// McsQueue: the MCS queue in RMA memory, which all queued kinds share.
//
// *What.* Agents join at the tail word and wait on their own nodes. The agent at the front passes
// the queue on with a payload; it steps over nodes of agents that have given up. The access class
// of tail and nodes is the caller's choice: `rma` if any agent may join, `cpu` if all agents that
// join share a node. That class applies to read-modify-writes; the processor loads and stores a
// near node in any case (ORDERING.md, O5), so an agent does not go through its network card to its
// own memory. With `loopback` only its own rank's nodes are near, and a link to a neighbour's goes
// through the card (RDMA MCS).
// *Thread safety.* A queue object belongs to its agent; the words are shared.
// *Invariants.*
//   D1  The tail never names a node that is idle.
//   D2  A node's status leaves `waiting` by one compare-and-swap, of the granter or of the node's
//       agent. So a waiter that gives up and a releaser that grants cannot both succeed.
//   D3  A node becomes idle only after the agent that steps over it has read its link (queue_node.h
//      N1).
//   D4  While the queue does not change, a walk from the tail by the words `before` leads to the
//       front: to a node that has been granted (or delegated), or that had no predecessor. Only
//       dumps read these words. So a grant need not be recorded at the lock's home, and an agent
//       that receives the lock from a neighbour has nothing in flight to the home.
// *Source.* HPDC'16 Listings 2 and 3. Deviations: the waiter's flag is set before the tail is
// swapped (the listing leaves the two Puts unflushed); granting is a compare-and-swap instead of a
// Put, so that a wait can time out; and a releaser steps over abandoned nodes.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include "keyway/locks/base/log.h"
#include "keyway/locks/distributed/by_class.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/distributed/tail_swap.h"

namespace keyway::locks {

/// The result of entering a queue.
struct Entered {
  enum class How : std::uint8_t {
    kFirst,    // it was empty
    kHanded,   // the predecessor has passed it on, with a payload
    kExpired,  // the deadline passed; the node is abandoned
  };
  How how = How::kFirst;
  std::uint64_t payload = 0;
};

struct McsRules {
  TailRules tail;
  bool loopback = false;  // words local to other agents go through the card as well
};

template <fabric::Endpoint E, class Access>
class McsQueue {
 public:
  McsQueue(LockAgent<E>& agent, Access access, fabric::Address tail, const McsRules& rules = {})
      : agent_(agent), access_(access), tail_(tail), rules_(rules) {}

  /// A node of the agent, ready to be enqueued.
  Result<std::uint32_t> prepare();
  /// Joins, and waits for the front. After kExpired the caller has nothing left to do: the node is
  /// in limbo, or never was in the queue.
  Entered enter(std::uint32_t node, Deadline deadline);
  /// Joins if the queue is empty.
  bool try_enter(std::uint32_t node) {
    const fabric::Address me = agent_.nodes.address(node);
    if (agent_.ep.compare_swap(access_, tail_, 0, me.word()) != 0) return false;
    stands_behind(me, 0);
    return true;
  }
  /// Records the predecessor of the agent's own node `me`; 0: it is at the front. D4.
  void stands_behind(fabric::Address me, std::uint64_t before) {
    agent_.ep.store(fabric::cpu, me + kBeforeOffset, before);
  }
  /// The successor that has linked itself behind `node`, or null; it may have given up since.
  fabric::Address linked(fabric::Address node);
  /// Called at the front, which `node` is: passes the queue to the first waiter that has not given
  /// up, or leaves it empty (false). Nodes that it steps over become idle; `node` itself stays.
  bool pass(fabric::Address node, std::uint64_t payload) {
    const fabric::Address next = linked(node);
    const fabric::Address last = next.is_null() ? node : hand_over(node, next, payload);
    return last.is_null() || finish(node, last, payload);
  }
  /// pass() in two parts, for callers that must act when no agent takes the queue. hand_over()
  /// tries the linked nodes, from `next` on; it returns null if one of them has taken the queue.
  /// Otherwise the queue is still the caller's, and the result `last`, an abandoned node, is in
  /// front.
  fabric::Address hand_over(fabric::Address node, fabric::Address next, std::uint64_t payload);
  /// The second part: empties the queue (false), or passes it to an agent that has joined
  /// meanwhile.
  bool finish(fabric::Address node, fabric::Address last, std::uint64_t payload);

 private:
  /// How long a releaser waits for a link before it logs a warning and continues to wait.
  static constexpr std::chrono::seconds kLinkPatience{30};

  // For nodes.
  std::uint64_t load(fabric::Address a) const {
    return rules_.loopback ? agent_.ep.load(access_, a) : ByClass(agent_.ep).load(a);
  }
  void store(fabric::Address a, std::uint64_t v) const {
    rules_.loopback ? agent_.ep.store(access_, a, v) : ByClass(agent_.ep).store(a, v);
  }

  /// True if the waiter has given up; false if the grant came first. D2.
  bool abandon(fabric::Address me) {
    return agent_.ep.compare_swap(access_, me + kStatusOffset, kNodeWaiting, kNodeAbandoned) ==
           kNodeWaiting;
  }
  /// An agent has swapped the tail and is about to write its address here.
  std::uint64_t wait_for_link(fabric::Address at);

  // The tail's operations, for swap_tail.
  struct OfClass {
    E& ep;
    Access access;
    std::uint64_t load(fabric::Address a) const { return ep.load(access, a); }
    std::uint64_t swap(fabric::Address a, std::uint64_t v) const { return ep.swap(access, a, v); }
    std::uint64_t compare_swap(fabric::Address a, std::uint64_t expected, std::uint64_t v) const {
      return ep.compare_swap(access, a, expected, v);
    }
  };

  LockAgent<E>& agent_;
  Access access_;
  fabric::Address tail_;
  McsRules rules_;
};

template <fabric::Endpoint E, class Access>
Result<std::uint32_t> McsQueue<E, Access>::prepare() {
  auto taken = agent_.nodes.take();
  if (!taken.ok()) return taken;
  const fabric::Address me = agent_.nodes.address(*taken);
  // Both must be in place before the tail can lead another agent here.
  agent_.ep.store(fabric::cpu, me + kNextOffset, 0);
  agent_.ep.store(fabric::cpu, me + kStatusOffset, kNodeWaiting);
  return taken;
}

template <fabric::Endpoint E, class Access>
Entered McsQueue<E, Access>::enter(std::uint32_t node, Deadline deadline) {
  E& ep = agent_.ep;
  const fabric::Address me = agent_.nodes.address(node);
  const fabric::WaitResult before =
      swap_tail(ep, OfClass{ep, access_}, rules_.tail, tail_, me.word(), deadline);
  if (before.expired) {
    agent_.nodes.recycle(node);
    return {.how = Entered::How::kExpired};
  }
  stands_behind(me, before.value);
  if (before.value == 0) return {};
  store(fabric::Address::from_word(before.value) + kNextOffset, me.word());
  auto waited = ep.wait_until(
      me + kStatusOffset, [](std::uint64_t status) { return status != kNodeWaiting; }, deadline);
  if (waited.expired) {
    if (abandon(me)) {
      agent_.nodes.abandon(node);
      return {.how = Entered::How::kExpired};
    }
    waited.value = ep.load(access_, me + kStatusOffset);
  }
  return {.how = Entered::How::kHanded, .payload = node_payload(waited.value)};
}

template <fabric::Endpoint E, class Access>
fabric::Address McsQueue<E, Access>::linked(fabric::Address node) {
  E& ep = agent_.ep;
  const bool own = node.rank() == ep.rank();
  const fabric::Address link = node + kNextOffset;
  std::uint64_t next = own ? ep.load(fabric::cpu, link) : load(link);
  // O5: after we have left, our node is used again and its link overwritten.
  if (next != 0 && own && !ep.one_class()) {
    const auto any = [](std::uint64_t) { return true; };
    next = ep.wait_until(link, any, Deadline::never()).value;
  }
  return fabric::Address::from_word(next);
}

template <fabric::Endpoint E, class Access>
fabric::Address McsQueue<E, Access>::hand_over(fabric::Address node, fabric::Address next,
                                               std::uint64_t payload) {
  E& ep = agent_.ep;
  fabric::Address at = node;
  while (!next.is_null()) {
    const bool handed = ep.compare_swap(access_, next + kStatusOffset, kNodeWaiting,
                                        granted_with(payload)) == kNodeWaiting;  // D2
    if (at != node) store(at + kStatusOffset, kNodeIdle);                        // D3
    if (handed) return {};
    at = next;
    next = linked(at);
  }
  return at;
}

template <fabric::Endpoint E, class Access>
bool McsQueue<E, Access>::finish(fabric::Address node, fabric::Address last,
                                 std::uint64_t payload) {
  E& ep = agent_.ep;
  while (!last.is_null() && ep.compare_swap(access_, tail_, last.word(), 0) != last.word()) {
    const fabric::Address at = last;
    last = hand_over(at, fabric::Address::from_word(wait_for_link(at)), payload);
    if (at != node) store(at + kStatusOffset, kNodeIdle);  // D3
  }
  if (last.is_null()) return true;
  if (last != node) store(last + kStatusOffset, kNodeIdle);
  return false;
}

template <fabric::Endpoint E, class Access>
std::uint64_t McsQueue<E, Access>::wait_for_link(fabric::Address at) {
  const auto linked = [](std::uint64_t next) { return next != 0; };
  const auto patience = Deadline::within(kLinkPatience);
  while (true) {
    const auto waited = at.rank() == agent_.ep.rank()
                            ? agent_.ep.wait_until(at + kNextOffset, linked, patience)
                            : agent_.ep.wait_until_remote(at + kNextOffset, linked,
                                                          fabric::Backoff::none(), patience);
    if (!waited.expired) return waited.value;
    log::warning(
        "a waiter has joined a lock's queue and not linked itself for 30 s; is its agent stopped?");
  }
}

/// For a dump: the node at the front of the queue of `tail`; `waiting` gets the waiting agents, in
/// order. Null if the queue is empty or the front was not found: the queue may change while we walk
/// it, and nodes may join it again (D4). So the walk is bounded.
template <fabric::Endpoint E>
fabric::Address dump_queue(LockAgent<E>& agent, fabric::Address tail,
                           std::vector<fabric::AgentId>& waiting) {
  const auto behind = static_cast<std::ptrdiff_t>(waiting.size());
  std::uint64_t word = agent.ep.load(fabric::rma, tail);
  for (std::size_t steps = 0; word != 0 && steps < kMaxDumped; ++steps) {
    const auto node = fabric::Address::from_word(word);
    if (!can_be_dumped(agent.ep, agent.nodes.region(), node)) break;
    word = agent.ep.load(fabric::rma, node + kBeforeOffset);
    const auto state = node_state(agent.ep.load(fabric::rma, node + kStatusOffset));
    if (state == kNodeGranted || state == kNodeDelegated || word == 0) {
      std::reverse(waiting.begin() + behind, waiting.end());
      return node;
    }
    if (state == kNodeWaiting) waiting.push_back(agent.nodes.region().owner(node));
  }
  waiting.resize(static_cast<std::size_t>(behind));
  return {};
}

}  // namespace keyway::locks
