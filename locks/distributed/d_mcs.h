// D-MCS: the MCS queue lock in RMA memory. FIFO; each waiter polls a word of its own rank.
//
// *What.* Mutual exclusion; readers are treated as writers. Word 0 of the line is the tail: the
// address of the last waiter's node, 0 when free.
// *Thread safety.* As lock.h says.
// *Invariants.*
//   D1  The tail never names a node that is idle.
//   D2  A node's status leaves `waiting` by one compare-and-swap, the granter's or its agent's, so
//       a waiter that gives up and a releaser that grants cannot both succeed.
//   D3  A node becomes idle only after whoever steps over it has read its link (queue_node.h N1).
// *Source.* HPDC'16 Listings 2 and 3. Deviations: the waiter's flag is set before the tail is
// swapped (the listing leaves the two Puts unflushed); granting is a compare-and-swap instead of a
// Put, so that an acquire can time out; and a releaser steps over abandoned nodes.
#pragma once

#include <chrono>

#include "keyway/locks/base/log.h"
#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/lock.h"

namespace keyway::locks {

class DMcs {
 public:
  static constexpr std::string_view kName = "d-mcs";

  static Result<DMcs> make(LockParams params) {
    if (auto rest = params.require_all_taken(); !rest.ok()) return rest;
    return DMcs();
  }
  LockTraits traits() const { return {.name = kName, .fifo = true, .queued = true}; }

  template <fabric::Endpoint E>
  Result<Grant> acquire(LockAgent<E>& agent, const LockSite& site, Mode mode,
                        Deadline deadline) const {
    auto taken = prepare_node(agent);
    if (!taken.ok()) return taken.status();
    E& ep = agent.ep;
    const fabric::Address me = agent.nodes.address(*taken);
    const std::uint64_t predecessor = ep.swap(fabric::rma, site.line, me.word());
    if (predecessor != 0) {
      ++agent.stats.contended;
      ep.store(fabric::rma, fabric::Address::from_word(predecessor) + kNextOffset, me.word());
      const auto waited = ep.wait_until(
          me + kStatusOffset, [](std::uint64_t status) { return status != kNodeWaiting; },
          deadline);
      if (waited.expired && abandon(agent, me)) {
        agent.nodes.abandon(*taken);
        ++agent.stats.timeouts;
        return timed_out(dump(agent, site));
      }
    }
    return granted(agent, site, mode, *taken);
  }

  template <fabric::Endpoint E>
  Result<Grant> try_acquire(LockAgent<E>& agent, const LockSite& site, Mode mode) const {
    auto taken = prepare_node(agent);
    if (!taken.ok()) return taken.status();
    const fabric::Address me = agent.nodes.address(*taken);
    if (agent.ep.compare_swap(fabric::rma, site.line, 0, me.word()) == 0) {
      return granted(agent, site, mode, *taken);
    }
    agent.nodes.give_back(*taken);
    ++agent.stats.try_failures;
    return Code::kBusy;
  }

  template <fabric::Endpoint E>
  void release(LockAgent<E>& agent, const LockSite& site, Grant& grant) const {
    E& ep = agent.ep;
    ep.flush(site.line.rank());  // L3
    const fabric::Address mine = agent.nodes.address(grant.node);
    fabric::Address at = mine;
    while (true) {
      const fabric::Address next = successor(agent, site, at);
      const bool done =
          next.is_null() || ep.compare_swap(fabric::rma, next + kStatusOffset, kNodeWaiting,
                                            kNodeGranted) == kNodeWaiting;   // D2
      if (at != mine) ep.store(fabric::rma, at + kStatusOffset, kNodeIdle);  // D3
      if (done) {
        if (!next.is_null()) ++agent.stats.handovers;
        break;
      }
      at = next;
    }
    agent.nodes.give_back(grant.node);
  }

  template <fabric::Endpoint E>
  LockDump dump(LockAgent<E>& agent, const LockSite& site) const;

 private:
  /// How long a releaser waits for a link before it says so in the log, and goes on waiting.
  static constexpr std::chrono::seconds kLinkPatience{30};
  /// A dump stops after so many nodes, abandoned ones included.
  static constexpr std::size_t kDumpedNodes = 256;

  template <fabric::Endpoint E>
  static Result<std::uint32_t> prepare_node(LockAgent<E>& agent) {
    auto taken = agent.nodes.take();
    if (!taken.ok()) return taken;
    const fabric::Address me = agent.nodes.address(*taken);
    agent.ep.post_store(fabric::rma, me + kNextOffset, 0);
    agent.ep.post_store(fabric::rma, me + kStatusOffset, kNodeWaiting);
    agent.ep.flush(me.rank());  // both in place before the tail can lead anybody here
    return taken;
  }

  template <fabric::Endpoint E>
  static Grant granted(LockAgent<E>& agent, const LockSite& site, Mode mode, std::uint32_t node) {
    ++(mode == Mode::kRead ? agent.stats.reads : agent.stats.writes);
    Grant grant{.mode = mode, .node = node};
    record_grant(agent, site, grant, agent.nodes.address(node).word());
    return grant;
  }

  /// True when the waiter has given up; false when the grant came first. D2.
  template <fabric::Endpoint E>
  static bool abandon(LockAgent<E>& agent, fabric::Address me) {
    return agent.ep.compare_swap(fabric::rma, me + kStatusOffset, kNodeWaiting, kNodeAbandoned) ==
           kNodeWaiting;
  }

  /// The node behind `at`, or null when `at` was the last and the lock is now free.
  template <fabric::Endpoint E>
  static fabric::Address successor(LockAgent<E>& agent, const LockSite& site, fabric::Address at) {
    E& ep = agent.ep;
    std::uint64_t next = ep.load(fabric::rma, at + kNextOffset);
    if (next == 0) {
      if (ep.compare_swap(fabric::rma, site.line, at.word(), 0) == at.word()) return {};
      next = wait_for_link(agent, at);
    }
    return fabric::Address::from_word(next);
  }

  /// Somebody has swapped the tail and is about to write its address here.
  template <fabric::Endpoint E>
  static std::uint64_t wait_for_link(LockAgent<E>& agent, fabric::Address at) {
    const auto linked = [](std::uint64_t next) { return next != 0; };
    const auto patience = Deadline::within(kLinkPatience);
    while (true) {
      const auto waited = at.rank() == agent.ep.rank()
                              ? agent.ep.wait_until(at + kNextOffset, linked, patience)
                              : agent.ep.wait_until_remote(at + kNextOffset, linked,
                                                           fabric::Backoff::none(), patience);
      if (!waited.expired) return waited.value;
      log::warning(
          "d-mcs: a waiter has joined the queue and not linked itself for 30 s; is its agent "
          "stopped?");
    }
  }
};

template <fabric::Endpoint E>
LockDump DMcs::dump(LockAgent<E>& agent, const LockSite& site) const {
  LockDump dump{.kind = std::string(kName)};
  const std::uint64_t tail = agent.ep.load(fabric::rma, site.line);
  dump.write_held = tail != 0;
  const std::uint64_t holder = dump_record(agent, site, dump);
  if (holder == 0) return dump;
  const auto node = fabric::Address::from_word(holder);
  const NodeRegion& region = agent.nodes.region();
  dump.holder = region.owner(node);
  // Racy by nature, so bounded: the queue may move on, and nodes join it anew, while we walk it.
  auto next = agent.ep.load(fabric::rma, node + kNextOffset);
  for (std::size_t steps = 0; next != 0 && steps < kDumpedNodes; ++steps) {
    const auto waiter = fabric::Address::from_word(next);
    if (agent.ep.load(fabric::rma, waiter + kStatusOffset) == kNodeWaiting) {
      dump.queue.push_back(region.owner(waiter));
    }
    next = agent.ep.load(fabric::rma, waiter + kNextOffset);
  }
  return dump;
}

}  // namespace keyway::locks
