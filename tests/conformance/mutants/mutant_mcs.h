// D-MCS with one defect of choice; see mutant_spin.h. No defect may make an agent wait for ever in
// release(), which has no deadline: a kill is a verdict, not a hang.
#pragma once

#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/mcs_queue.h"

namespace keyway::conformance {

enum class McsDefect {
  kNone,
  kLostLink,           // release leaves when the successor has not linked itself yet
  kFlagAfterSwap,      // the waiter sets its flag after the tail leads others to it
  kGivesUpWithoutCas,  // D2: a store, so that a grant that came first is lost
  kReusesAbandoned,    // N1: the node goes back to the pool at once
  kDoesNotWait,        // a waiter enters as soon as it has linked itself
  kReleaseSkipsFlush,  // L3
  kGrantsAbandoned,    // the releaser does not step over those who gave up
  kForgetsIdle,        // D3: nodes stepped over never come back
  kRejoins,            // fifo: a waiter keeps leaving its place to queue again
  kTryQueues,          // try joins the queue and gives up: no try
  kTryKeepsNode,       // L2: a try that fails does not give its node back
  kTouchesAfterGrant,  // N1: the releaser clears its successor's link after waking it
  kIdleBeforeLink,     // D3: a node stepped over is idle before its link has been read
  kOvertakes,          // fifo: a releaser lets the second in the queue go first
  kAnnouncesFirst,     // fifo: an atomic on the lock's line comes before the one that queues
  kWaitsForEmptyTail,  // fifo: whoever comes waits for an empty queue instead of joining it
  kWritesBeside,       // the holder's node goes to the line behind the lock's
  kTokenAfterRelease,  // L4: the word follows the token when the lock is free again
};

template <McsDefect D>
class MutantMcs {
 public:
  static Result<MutantMcs> make(const locks::LockParams&) { return MutantMcs(); }
  locks::LockTraits traits() const { return {.name = "mutant-mcs", .fifo = true, .queued = true}; }

  template <fabric::Endpoint E>
  Result<locks::Grant> acquire(locks::LockAgent<E>& agent, const locks::LockSite& site,
                               locks::Mode mode, Deadline deadline) const {
    if (D != McsDefect::kRejoins) return acquire_once(agent, site, mode, deadline);
    const Deadline until = deadline.started(agent.ep.now_ns());
    while (true) {
      const bool last = agent.ep.now_ns() >= until.absolute_ns();
      auto granted = acquire_once(agent, site, mode, Deadline::now());
      if (granted.ok() || granted.code() != Code::kTimeout || last) return granted;
    }
  }

  template <fabric::Endpoint E>
  Result<locks::Grant> try_acquire(locks::LockAgent<E>& agent, const locks::LockSite& site,
                                   locks::Mode mode) const {
    if (D == McsDefect::kTryQueues) {
      auto made = acquire_once(agent, site, mode, Deadline::now());
      return made.ok() ? std::move(made) : Result<locks::Grant>(Code::kBusy);
    }
    auto taken = prepare(agent);
    if (!taken.ok()) return taken.status();
    const auto me = agent.nodes.address(*taken);
    if (agent.ep.compare_swap(fabric::rma, site.line, 0, me.word()) == 0) {
      agent.ep.store(fabric::cpu, me + locks::kBeforeOffset, 0);
      return granted(agent, site, mode, *taken);
    }
    if (D != McsDefect::kTryKeepsNode) agent.nodes.give_back(*taken);
    ++agent.stats.try_failures;
    return Code::kBusy;
  }

  template <fabric::Endpoint E>
  void release(locks::LockAgent<E>& agent, const locks::LockSite& site, locks::Grant& grant) const {
    E& ep = agent.ep;
    if (D != McsDefect::kReleaseSkipsFlush) ep.flush(site.line.rank());
    const auto mine = agent.nodes.address(grant.node);
    auto at = mine;
    for (int steps = 0; steps < kMaxSteps; ++steps) {
      if (D == McsDefect::kIdleBeforeLink && at != mine) {
        ep.store(fabric::rma, at + locks::kStatusOffset, locks::kNodeIdle);
      }
      auto next = successor(agent, site, at);
      if (D == McsDefect::kOvertakes && !next.is_null()) next = second(ep, site, next);
      const bool done = next.is_null() || grant_to(ep, next);
      if (D == McsDefect::kTouchesAfterGrant && !next.is_null()) ep.store(fabric::rma, next, 0);
      if (at != mine && D != McsDefect::kForgetsIdle && D != McsDefect::kIdleBeforeLink) {
        ep.store(fabric::rma, at + locks::kStatusOffset, locks::kNodeIdle);
      }
      if (done) {
        if (!next.is_null()) agent.stats.handed_over(1);
        break;
      }
      at = next;
    }
    agent.nodes.give_back(grant.node);
    if (D == McsDefect::kTokenAfterRelease) {
      ep.store(fabric::rma, site.line + locks::kTokenOffset, grant.token);
    }
  }

  template <fabric::Endpoint E>
  locks::LockDump dump(locks::LockAgent<E>& agent, const locks::LockSite& site) const {
    locks::LockDump dump{.kind = "mutant-mcs"};
    dump.write_held = agent.ep.load(fabric::rma, site.line) != 0;
    locks::dump_line(agent, site, dump);
    locks::name_holder(agent, locks::dump_queue(agent, site.line, dump.queue), dump);
    return dump;
  }

 private:
  static constexpr int kMaxSteps = 64;  // a defect can close the queue to a ring

  template <fabric::Endpoint E>
  static Result<std::uint32_t> prepare(locks::LockAgent<E>& agent) {
    auto taken = agent.nodes.take();
    if (!taken.ok()) return taken;
    const auto me = agent.nodes.address(*taken);
    agent.ep.post_store(fabric::rma, me, 0);
    if (D != McsDefect::kFlagAfterSwap) {
      agent.ep.post_store(fabric::rma, me + locks::kStatusOffset, locks::kNodeWaiting);
    }
    agent.ep.flush(me.rank());
    return taken;
  }

  template <fabric::Endpoint E>
  static Result<locks::Grant> acquire_once(locks::LockAgent<E>& agent, const locks::LockSite& site,
                                           locks::Mode mode, Deadline deadline) {
    auto taken = prepare(agent);
    if (!taken.ok()) return taken.status();
    E& ep = agent.ep;
    const auto me = agent.nodes.address(*taken);
    if (D == McsDefect::kAnnouncesFirst) {
      ep.fetch_or(fabric::rma, site.line + locks::kSecondOffset, 1);
    }
    const std::uint64_t predecessor = D == McsDefect::kWaitsForEmptyTail
                                          ? barge(ep, site, me)
                                          : ep.swap(fabric::rma, site.line, me.word());
    ep.store(fabric::cpu, me + locks::kBeforeOffset, predecessor);
    if (predecessor != 0) {
      ++agent.stats.contended;
      ep.store(fabric::rma, fabric::Address::from_word(predecessor), me.word());
      if (D == McsDefect::kFlagAfterSwap) {
        ep.store(fabric::rma, me + locks::kStatusOffset, locks::kNodeWaiting);
      }
      if (D == McsDefect::kDoesNotWait) return granted(agent, site, mode, *taken);
      const auto waited = ep.wait_until(
          me + locks::kStatusOffset, [](std::uint64_t s) { return s != locks::kNodeWaiting; },
          deadline);
      if (waited.expired && give_up(ep, me)) {
        if (D == McsDefect::kReusesAbandoned) {
          agent.nodes.give_back(*taken);
        } else {
          agent.nodes.abandon(*taken);
        }
        ++agent.stats.timeouts;
        return locks::timed_out(MutantMcs().dump(agent, site));
      }
    }
    return granted(agent, site, mode, *taken);
  }

  /// Without a place in the queue: 0, once it was empty.
  template <class E>
  static std::uint64_t barge(E& ep, const locks::LockSite& site, fabric::Address me) {
    const auto empty = [&] { return ep.compare_swap(fabric::rma, site.line, 0, me.word()) == 0; };
    if (!empty()) ep.retry_until(empty, fabric::Backoff::none(), Deadline::never());
    return 0;
  }
  /// Of the first two in the queue, if these are all, the second, now before the first.
  template <class E>
  static fabric::Address second(E& ep, const locks::LockSite& site, fabric::Address first) {
    const std::uint64_t last = ep.load(fabric::rma, first);
    if (last == 0 || ep.compare_swap(fabric::rma, site.line, last, first.word()) != last) {
      return first;
    }
    ep.store(fabric::rma, first, 0);
    ep.store(fabric::rma, fabric::Address::from_word(last), first.word());
    return fabric::Address::from_word(last);
  }

  template <class E>
  static bool give_up(E& ep, fabric::Address me) {
    const auto status = me + locks::kStatusOffset;
    if (D == McsDefect::kGivesUpWithoutCas) {
      ep.store(fabric::rma, status, locks::kNodeAbandoned);
      return true;
    }
    return ep.compare_swap(fabric::rma, status, locks::kNodeWaiting, locks::kNodeAbandoned) ==
           locks::kNodeWaiting;
  }
  template <class E>
  static bool grant_to(E& ep, fabric::Address next) {
    const auto status = next + locks::kStatusOffset;
    if (D == McsDefect::kGrantsAbandoned) {
      ep.store(fabric::rma, status, locks::kNodeGranted);
      return true;
    }
    return ep.compare_swap(fabric::rma, status, locks::kNodeWaiting, locks::kNodeGranted) ==
           locks::kNodeWaiting;
  }

  template <fabric::Endpoint E>
  static fabric::Address successor(locks::LockAgent<E>& agent, const locks::LockSite& site,
                                   fabric::Address at) {
    E& ep = agent.ep;
    std::uint64_t next = ep.load(fabric::rma, at);
    if (next == 0) {
      if (ep.compare_swap(fabric::rma, site.line, at.word(), 0) == at.word()) return {};
      if (D == McsDefect::kLostLink) return {};
      // A queue that a defect has torn must not hold the test up: its rest counts as lost.
      const auto patience = Deadline::within(std::chrono::seconds(D == McsDefect::kNone ? 60 : 2));
      next = ep.wait_until_remote(
                   at, [](std::uint64_t n) { return n != 0; }, fabric::Backoff::none(), patience)
                 .value;
    }
    return fabric::Address::from_word(next);
  }

  template <fabric::Endpoint E>
  static locks::Grant granted(locks::LockAgent<E>& agent, const locks::LockSite& site,
                              locks::Mode mode, std::uint32_t node) {
    ++(mode == locks::Mode::kRead ? agent.stats.reads : agent.stats.writes);
    locks::Grant grant{.mode = mode, .node = node};
    if (D == McsDefect::kWritesBeside) {
      agent.ep.post_store(fabric::rma, site.line + locks::kLockLineBytes,
                          agent.nodes.address(node).word());
    }
    if (D == McsDefect::kTokenAfterRelease) {
      grant.token = agent.ep.load(fabric::rma, site.line + locks::kTokenOffset) + 1;
      return grant;
    }
    grant.token_known = false;
    return grant;
  }
};

}  // namespace keyway::conformance
