// MCS-WP with one defect of choice; see mutant_spin.h. Only the explorer runs these: some wait for
// ever in release().
#pragma once

#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/mcs_queue.h"

namespace keyway::conformance {

enum class WpDefect {
  kNone,
  kWriterIgnoresReaders,  // L1: the front enters whoever reads
  kReaderIgnoresActive,   // L1: a reader enters beside a writer
  kLeavesWithoutClaim,    // W1: the last reader does not let the writer in
  kClaimsWithoutCas,      // W1: whoever sees that the readers have left adds the change
  kFrontAfterWaits,       // W1: word 5 is written after `waits` leads others there
  kPassesAndClears,       // W2: the lock is handed on, and its bit is cleared all the same
  kGrantsUncounted,       // W3: a reader grants the next of the list without counting it
  kReaderDoesNotLook,     // W4: a reader that is listed does not look for writers again
  kListedBeforeList,      // W4: a reader is listed, and looks, before it is in the list
  kWriterForgetsList,     // W4: the last writer leaves the list alone
  kReaderGivesUpBlindly,  // W5: a store, so that a grant that came first is lost
  kGrantsAbandoned,       // W5: whoever takes the list does not step over those who gave up
  kIdleBeforeLink,        // N1: a node stepped over is idle before its link has been read
  kForgetsIdle,           // N1: nodes stepped over never come back
  kFrontKeepsWaits,       // W1, L2: a front that gives up leaves `waits`
  kFrontGivesUpClaimed,   // W1, L2: ... and does not look whether it has been claimed
  kFrontLeavesList,       // W4: a front that gives up leaves the list alone
  kReaderDoesNotBackOut,  // L2: a reader that is listed stays counted inside
  kReleaseSkipsFlush,     // L3
  kTokenAfterRelease,     // L4
};

template <WpDefect D>
class MutantMcsWp {
 public:
  static Result<MutantMcsWp> make(const locks::LockParams&) { return MutantMcsWp(); }
  locks::LockTraits traits() const {
    return {.name = "mutant-mcs-wp", .readers_share = true, .fifo = true, .queued = true};
  }

  template <fabric::Endpoint E>
  Result<locks::Grant> acquire(locks::LockAgent<E>& agent, const locks::LockSite& site,
                               locks::Mode mode, Deadline deadline) const {
    return mode == locks::Mode::kRead ? acquire_read(agent, site, deadline)
                                      : acquire_write(agent, site, deadline);
  }

  template <fabric::Endpoint E>
  Result<locks::Grant> try_acquire(locks::LockAgent<E>& agent, const locks::LockSite& site,
                                   locks::Mode mode) const {
    if (mode == locks::Mode::kRead) return try_read(agent, site);
    auto queue = writers(agent, site);
    auto taken = queue.prepare();
    if (!taken.ok()) return taken.status();
    if (queue.try_enter(*taken)) {
      if (enter_free(agent, site)) return granted_write(agent, site, *taken);
      queue.pass(agent.nodes.address(*taken), kTheFront);
    }
    agent.nodes.give_back(*taken);
    ++agent.stats.try_failures;
    return Code::kBusy;
  }

  template <fabric::Endpoint E>
  void release(locks::LockAgent<E>& agent, const locks::LockSite& site, locks::Grant& grant) const {
    if (D != WpDefect::kReleaseSkipsFlush) agent.ep.flush(site.line.rank());
    if (grant.mode == locks::Mode::kRead) return leave(agent, site);
    const bool handed = writers(agent, site).pass(agent.nodes.address(grant.node), kTheLock);
    if (!handed || D == WpDefect::kPassesAndClears) {
      const auto state = change(agent, site, minus(kActive));
      if ((state & kWriters) != 0) {
        let_writer_in(agent, site, state);
      } else if (state >= kListed && D != WpDefect::kWriterForgetsList) {
        let_readers_in(agent, site);
      }
    }
    agent.nodes.give_back(grant.node);
    if (D == WpDefect::kTokenAfterRelease) {
      agent.ep.store(fabric::rma, site.line + locks::kTokenOffset, grant.token);
    }
  }

  template <fabric::Endpoint E>
  locks::LockDump dump(locks::LockAgent<E>& agent, const locks::LockSite& site) const {
    locks::LockDump dump{.kind = "mutant-mcs-wp"};
    const auto state = agent.ep.load(fabric::rma, site.line);
    dump.write_held = (state & kActive) != 0;
    dump.readers = readers(state);
    locks::dump_line(agent, site, dump);
    const auto front = locks::dump_queue(agent, site.line + locks::kSecondOffset, dump.queue);
    locks::name_holder(agent, front, dump);
    return dump;
  }

 private:
  static constexpr std::uint64_t kActive = 1;
  static constexpr std::uint64_t kWaits = 2;
  static constexpr std::uint64_t kWriters = kActive | kWaits;
  static constexpr std::uint64_t kReader = 1ULL << 2;
  static constexpr std::uint64_t kListed = 1ULL << 30;
  static constexpr std::uint64_t kKeepOut = D == WpDefect::kReaderIgnoresActive ? kWaits : kWriters;
  enum Passed : std::uint64_t { kTheFront = 0, kTheLock = 1 };
  static constexpr std::uint64_t minus(std::uint64_t amount) { return ~amount + 1; }
  static constexpr std::uint64_t readers(std::uint64_t state) { return state % kListed / kReader; }
  static fabric::Address list_word(const locks::LockSite& site) { return site.line + 32; }
  static fabric::Address front_word(const locks::LockSite& site) { return site.line + 40; }

  template <fabric::Endpoint E>
  static locks::McsQueue<E, fabric::RmaClass> writers(locks::LockAgent<E>& agent,
                                                      const locks::LockSite& site) {
    return {agent, fabric::rma, site.line + locks::kSecondOffset};
  }
  /// Adds to the state; what it is then.
  template <fabric::Endpoint E>
  static std::uint64_t change(locks::LockAgent<E>& agent, const locks::LockSite& site,
                              std::uint64_t amount) {
    return agent.ep.fetch_add(fabric::rma, site.line, amount) + amount;
  }

  // --- readers

  template <fabric::Endpoint E>
  Result<locks::Grant> acquire_read(locks::LockAgent<E>& agent, const locks::LockSite& site,
                                    Deadline deadline) const {
    E& ep = agent.ep;
    if ((change(agent, site, kReader) & kKeepOut) == 0) return granted_read(agent);
    auto taken = writers(agent, site).prepare();
    if (!taken.ok()) {
      leave(agent, site);
      return taken.status();
    }
    const auto me = agent.nodes.address(*taken);
    const std::uint64_t from_counted =
        D == WpDefect::kReaderDoesNotBackOut ? kListed : kListed - kReader;
    std::uint64_t state = 0;
    if (D == WpDefect::kListedBeforeList) state = change(agent, site, from_counted);
    const auto next = ep.swap(fabric::rma, list_word(site), me.word());
    ep.store(fabric::rma, me + locks::kNextOffset, next);
    if (D != WpDefect::kListedBeforeList) state = change(agent, site, from_counted);
    if ((state & kWriters) != 0) {
      let_writer_in(agent, site, state);
    } else if (D != WpDefect::kReaderDoesNotLook) {
      let_readers_in(agent, site);
    }
    const auto waited = ep.wait_until(
        me + locks::kStatusOffset, [](std::uint64_t s) { return s != locks::kNodeWaiting; },
        deadline);
    if (waited.expired && give_up(ep, me)) {
      agent.nodes.abandon(*taken);
      return locks::timed_out(dump(agent, site));
    }
    grant_next(agent, site, next);
    agent.nodes.give_back(*taken);
    return granted_read(agent);
  }

  template <fabric::Endpoint E>
  static Result<locks::Grant> try_read(locks::LockAgent<E>& agent, const locks::LockSite& site) {
    const auto seen = agent.ep.compare_swap(fabric::rma, site.line, 0, kReader);
    if (seen == 0) return granted_read(agent);
    if ((seen & kKeepOut) == 0) {
      if ((change(agent, site, kReader) & kKeepOut) == 0) return granted_read(agent);
      leave(agent, site);
    }
    return Code::kBusy;
  }

  template <class E>
  static bool give_up(E& ep, fabric::Address me) {
    const auto status = me + locks::kStatusOffset;
    if (D == WpDefect::kReaderGivesUpBlindly) {
      ep.store(fabric::rma, status, locks::kNodeAbandoned);
      return true;
    }
    return ep.compare_swap(fabric::rma, status, locks::kNodeWaiting, locks::kNodeAbandoned) ==
           locks::kNodeWaiting;
  }

  template <fabric::Endpoint E>
  static void leave(locks::LockAgent<E>& agent, const locks::LockSite& site) {
    const auto state = change(agent, site, minus(kReader));
    if (D != WpDefect::kLeavesWithoutClaim) let_writer_in(agent, site, state);
  }

  template <fabric::Endpoint E>
  static void let_readers_in(locks::LockAgent<E>& agent, const locks::LockSite& site) {
    if ((change(agent, site, kReader) & kWriters) != 0) return leave(agent, site);
    const auto first = agent.ep.swap(fabric::rma, list_word(site), 0);
    if (!hand_count(agent, site, first)) leave(agent, site);
  }

  template <fabric::Endpoint E>
  static void grant_next(locks::LockAgent<E>& agent, const locks::LockSite& site,
                         std::uint64_t next) {
    if (next == 0) {
      agent.ep.post_fetch_add(fabric::rma, site.line, minus(kListed));
      return;
    }
    const bool counts = D != WpDefect::kGrantsUncounted;
    change(agent, site, counts ? kReader - kListed : minus(kListed));
    if (!hand_count(agent, site, next) && counts) change(agent, site, minus(kReader));
  }

  template <fabric::Endpoint E>
  static bool hand_count(locks::LockAgent<E>& agent, const locks::LockSite& site,
                         std::uint64_t first) {
    E& ep = agent.ep;
    while (first != 0) {
      const auto node = fabric::Address::from_word(first);
      const auto status = node + locks::kStatusOffset;
      if (ep.compare_swap(fabric::rma, status, locks::kNodeWaiting, locks::kNodeGranted) ==
              locks::kNodeWaiting ||
          D == WpDefect::kGrantsAbandoned) {
        return true;
      }
      if (D == WpDefect::kIdleBeforeLink) ep.store(fabric::rma, status, locks::kNodeIdle);
      first = ep.load(fabric::rma, node + locks::kNextOffset);
      if (D != WpDefect::kIdleBeforeLink && D != WpDefect::kForgetsIdle) {
        ep.store(fabric::rma, status, locks::kNodeIdle);
      }
      change(agent, site, minus(kListed));
    }
    return false;
  }

  template <fabric::Endpoint E>
  static locks::Grant granted_read(locks::LockAgent<E>& agent) {
    ++agent.stats.reads;
    return {.mode = locks::Mode::kRead};
  }

  // --- writers

  template <fabric::Endpoint E>
  Result<locks::Grant> acquire_write(locks::LockAgent<E>& agent, const locks::LockSite& site,
                                     Deadline deadline) const {
    auto queue = writers(agent, site);
    auto taken = queue.prepare();
    if (!taken.ok()) return taken.status();
    const locks::Entered entered = queue.enter(*taken, deadline);
    if (entered.how != locks::Entered::How::kExpired &&
        (entered.payload == kTheLock || enter_free(agent, site) ||
         enter_from_front(agent, site, *taken, deadline))) {
      return granted_write(agent, site, *taken);
    }
    return locks::timed_out(dump(agent, site));
  }

  template <fabric::Endpoint E>
  static bool enter_free(locks::LockAgent<E>& agent, const locks::LockSite& site) {
    const bool anyhow = D == WpDefect::kWriterIgnoresReaders;
    std::uint64_t state = 0;
    while ((state & kWriters) == 0 && (readers(state) == 0 || anyhow)) {
      const auto seen = agent.ep.compare_swap(fabric::rma, site.line, state, state | kActive);
      if (seen == state) return true;
      state = seen;
    }
    return false;
  }

  template <fabric::Endpoint E>
  static bool enter_from_front(locks::LockAgent<E>& agent, const locks::LockSite& site,
                               std::uint32_t node, Deadline deadline) {
    E& ep = agent.ep;
    const auto me = agent.nodes.address(node);
    writers(agent, site).stands_behind(me, 0);
    ep.store(fabric::rma, me + locks::kStatusOffset, locks::kNodeWaiting);
    if (D != WpDefect::kFrontAfterWaits) ep.store(fabric::rma, front_word(site), me.word());
    const auto state = change(agent, site, kWaits);
    if (D == WpDefect::kFrontAfterWaits) ep.store(fabric::rma, front_word(site), me.word());
    if (claim(agent, site, state)) return true;
    const auto waited = ep.wait_until(
        me + locks::kStatusOffset, [](std::uint64_t s) { return s == locks::kNodeGranted; },
        deadline);
    return !waited.expired || !withdraw(agent, site, node);
  }

  template <fabric::Endpoint E>
  static bool withdraw(locks::LockAgent<E>& agent, const locks::LockSite& site,
                       std::uint32_t node) {
    E& ep = agent.ep;
    const auto me = agent.nodes.address(node);
    auto state = ep.load(fabric::rma, site.line);
    if (D == WpDefect::kFrontGivesUpClaimed) state = change(agent, site, minus(kWaits));
    while (D != WpDefect::kFrontGivesUpClaimed && D != WpDefect::kFrontKeepsWaits) {
      if ((state & kWaits) == 0) {
        ep.wait_until(
            me + locks::kStatusOffset, [](std::uint64_t s) { return s == locks::kNodeGranted; },
            Deadline::never());
        return false;
      }
      const auto seen = ep.compare_swap(fabric::rma, site.line, state, state - kWaits);
      if (seen == state) break;
      state = seen;
    }
    const bool passed = writers(agent, site).pass(me, kTheFront);
    if (!passed && (state & kActive) == 0 && state >= kListed && D != WpDefect::kFrontLeavesList) {
      let_readers_in(agent, site);
    }
    ep.store(fabric::rma, me + locks::kStatusOffset, locks::kNodeIdle);
    agent.nodes.give_back(node);
    return true;
  }

  template <fabric::Endpoint E>
  static bool claim(locks::LockAgent<E>& agent, const locks::LockSite& site, std::uint64_t state) {
    while ((state & kWriters) == kWaits && readers(state) == 0) {
      if (D == WpDefect::kClaimsWithoutCas) {
        change(agent, site, kActive - kWaits);
        return true;
      }
      const auto seen = agent.ep.compare_swap(fabric::rma, site.line, state, state ^ kWriters);
      if (seen == state) return true;
      state = seen;
    }
    return false;
  }

  template <fabric::Endpoint E>
  static void let_writer_in(locks::LockAgent<E>& agent, const locks::LockSite& site,
                            std::uint64_t state) {
    if (!claim(agent, site, state)) return;
    const auto front = fabric::Address::from_word(agent.ep.load(fabric::rma, front_word(site)));
    agent.ep.store(fabric::rma, front + locks::kStatusOffset, locks::kNodeGranted);
  }

  template <fabric::Endpoint E>
  static locks::Grant granted_write(locks::LockAgent<E>& agent, const locks::LockSite& site,
                                    std::uint32_t node) {
    locks::Grant grant{.mode = locks::Mode::kWrite, .node = node};
    ++agent.stats.writes;
    if (D == WpDefect::kTokenAfterRelease) {
      grant.token = agent.ep.load(fabric::rma, site.line + locks::kTokenOffset) + 1;
    } else {
      grant.token_known = false;
    }
    return grant;
  }
};

}  // namespace keyway::conformance
