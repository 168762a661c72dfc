// foMPI-Spin with one defect of choice, for the conformance suite's own test. With kNone it is
// a faithful copy, which shows that a kill is the defect's and not the copy's.
#pragma once

#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/lock.h"

namespace keyway::conformance {

enum class SpinDefect {
  kNone,
  kEntersAfterOneRetry,   // the second attempt counts as granted, whatever it found
  kReleaseSkipsFlush,     // L3
  kFlushAfterRelease,     // L3: the right steps in the wrong order
  kTokenStaysSame,        // L4: every grant tells the same token
  kTryTakesOver,          // try succeeds on a lock that is held
  kClaimsSharing,         // readers_share is claimed, readers are treated as writers
  kClaimsFifo,            // fifo is claimed, there is no queue
  kReleaseForgets,        // the word stays taken
  kReaderCountsAsWriter,  // stats
  kTimeoutCountsAsTry,    // stats
  kNamelessHolder,        // dump
  kTimeoutSaysNothing,    // the message does not name the holder
  kAttemptAdds,        // L2: attempts add one to the word, and a failed one does not take it back
  kTimeoutReleases,    // L2: a timed-out acquire frees the lock, which is another's
  kWritesBeside,       // the holder's name goes to the line behind the lock's
  kTokenAfterRelease,  // L4: the word follows the token when the lock is free again
};

template <SpinDefect D>
class MutantSpin {
 public:
  static Result<MutantSpin> make(const locks::LockParams&) { return MutantSpin(); }
  locks::LockTraits traits() const {
    return {.name = "mutant-spin",
            .readers_share = D == SpinDefect::kClaimsSharing,
            .fifo = D == SpinDefect::kClaimsFifo};
  }

  template <fabric::Endpoint E>
  Result<locks::Grant> acquire(locks::LockAgent<E>& agent, const locks::LockSite& site,
                               locks::Mode mode, Deadline deadline) const {
    if (!attempt(agent, site)) {
      ++agent.stats.contended;
      int retries = 0;
      const bool entered = agent.ep.retry_until(
          [&] {
            return attempt(agent, site) || (D == SpinDefect::kEntersAfterOneRetry && ++retries > 0);
          },
          fabric::Backoff::none(), deadline);
      if (!entered) {
        if (D == SpinDefect::kTimeoutReleases) agent.ep.store(fabric::rma, site.line, 0);
        ++(D == SpinDefect::kTimeoutCountsAsTry ? agent.stats.try_failures : agent.stats.timeouts);
        if (D == SpinDefect::kTimeoutSaysNothing) return Code::kTimeout;
        return locks::timed_out(dump(agent, site));
      }
    }
    return granted(agent, site, mode);
  }

  template <fabric::Endpoint E>
  Result<locks::Grant> try_acquire(locks::LockAgent<E>& agent, const locks::LockSite& site,
                                   locks::Mode mode) const {
    if (attempt(agent, site) || D == SpinDefect::kTryTakesOver) return granted(agent, site, mode);
    ++agent.stats.try_failures;
    return Code::kBusy;
  }

  template <fabric::Endpoint E>
  void release(locks::LockAgent<E>& agent, const locks::LockSite& site, locks::Grant& grant) const {
    if (D == SpinDefect::kReleaseForgets) return;
    const bool first = D != SpinDefect::kReleaseSkipsFlush && D != SpinDefect::kFlushAfterRelease;
    if (first) agent.ep.flush(site.line.rank());
    if (D == SpinDefect::kAttemptAdds) {
      agent.ep.fetch_add(fabric::rma, site.line, ~std::uint64_t{0});
      return;
    }
    agent.ep.store(fabric::rma, site.line, 0);
    if (D == SpinDefect::kFlushAfterRelease) agent.ep.flush(site.line.rank());
    if (D == SpinDefect::kTokenAfterRelease) {
      agent.ep.store(fabric::rma, site.line + locks::kTokenOffset, grant.token);
    }
  }

  template <fabric::Endpoint E>
  locks::LockDump dump(locks::LockAgent<E>& agent, const locks::LockSite& site) const {
    locks::LockDump dump{.kind = "mutant-spin"};
    const std::uint64_t word = agent.ep.load(fabric::rma, site.line);
    dump.write_held = word != 0;
    locks::dump_line(agent, site, dump);
    if (dump.write_held) dump.holder = fabric::AgentId::from_word(word);
    dump.holder_known = dump.write_held && D != SpinDefect::kNamelessHolder;
    return dump;
  }

 private:
  template <fabric::Endpoint E>
  static bool attempt(locks::LockAgent<E>& agent, const locks::LockSite& site) {
    if (D == SpinDefect::kAttemptAdds) return agent.ep.fetch_add(fabric::rma, site.line, 1) == 0;
    return agent.ep.compare_swap(fabric::rma, site.line, 0, agent.ep.agent().word()) == 0;
  }
  template <fabric::Endpoint E>
  static locks::Grant granted(locks::LockAgent<E>& agent, const locks::LockSite& site,
                              locks::Mode mode) {
    const bool as_reader = mode == locks::Mode::kRead && D != SpinDefect::kReaderCountsAsWriter;
    ++(as_reader ? agent.stats.reads : agent.stats.writes);
    locks::Grant grant{.mode = mode};
    if (D == SpinDefect::kWritesBeside) {
      agent.ep.post_store(fabric::rma, site.line + locks::kLockLineBytes, agent.ep.agent().word());
    }
    if (D == SpinDefect::kTokenStaysSame) {
      grant.token = 1;
    } else if (D == SpinDefect::kTokenAfterRelease) {
      grant.token = agent.ep.load(fabric::rma, site.line + locks::kTokenOffset) + 1;
    } else {
      grant.token_known = false;
    }
    return grant;
  }
};

}  // namespace keyway::conformance
