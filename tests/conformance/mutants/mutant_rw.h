// foMPI-RW with one defect of choice; see mutant_spin.h.
#pragma once

#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/lock.h"

namespace keyway::conformance {

enum class RwDefect {
  kNone,
  kReleaseStoresZero,        // foMPI's own: wipes out the +2 of a reader that is backing out
  kReaderDoesNotBackOut,     // G2
  kReaderIgnoresWriter,      // L1
  kWriterIgnoresReaders,     // L1
  kWriterKeepsMaster,        // G2: a failed writer leaves its 1 in the master word
  kAllDoesNotBackOut,        // G2: a failed LOCKALL leaves its 1
  kAllIgnoresWriters,        // G3
  kMasterLeftEarly,          // G3: the master word is left before the lock's flush
  kReaderReleaseSkipsFlush,  // L3
  kWriterReleaseSkipsFlush,  // L3
  kFlushAfterRelease,        // L3: the right steps in the wrong order
  kEntersAfterOneRetry,      // the second attempt counts as granted, whatever it found
  kTimeoutKeepsCount,        // L2: a reader that gives up stays counted
  kWritesBeside,             // the holder's name goes to the line behind the lock's
  kTokenAfterRelease,        // L4: the word follows the token when the lock is free again
};

template <RwDefect D>
class MutantRw {
 public:
  static Result<MutantRw> make(const locks::LockParams&) { return MutantRw(); }
  locks::LockTraits traits() const { return {.name = "mutant-rw", .readers_share = true}; }

  template <fabric::Endpoint E>
  Result<locks::Grant> acquire(locks::LockAgent<E>& agent, const locks::LockSite& site,
                               locks::Mode mode, Deadline deadline) const {
    if (!attempt(agent, site, mode)) {
      ++agent.stats.contended;
      const auto again = [&] {
        return attempt(agent, site, mode) || D == RwDefect::kEntersAfterOneRetry;
      };
      if (!agent.ep.retry_until(again, fabric::Backoff::none(), deadline)) {
        if (D == RwDefect::kTimeoutKeepsCount && mode == locks::Mode::kRead) {
          agent.ep.fetch_add(fabric::rma, site.line, kReader);
        }
        ++agent.stats.timeouts;
        return locks::timed_out(dump(agent, site));
      }
    }
    return granted(agent, site, mode);
  }

  template <fabric::Endpoint E>
  Result<locks::Grant> try_acquire(locks::LockAgent<E>& agent, const locks::LockSite& site,
                                   locks::Mode mode) const {
    if (attempt(agent, site, mode)) return granted(agent, site, mode);
    ++agent.stats.try_failures;
    return Code::kBusy;
  }

  template <fabric::Endpoint E>
  void release(locks::LockAgent<E>& agent, const locks::LockSite& site, locks::Grant& grant) const {
    E& ep = agent.ep;
    if (grant.mode == locks::Mode::kRead) {
      if (D != RwDefect::kReaderReleaseSkipsFlush) ep.flush(site.line.rank());
      ep.fetch_add(fabric::rma, site.line, minus(kReader));
      return;
    }
    if (D == RwDefect::kMasterLeftEarly) ep.fetch_add(fabric::rma, site.group, minus(1));
    if (D != RwDefect::kWriterReleaseSkipsFlush && D != RwDefect::kFlushAfterRelease) {
      ep.flush(site.line.rank());
    }
    if (D == RwDefect::kReleaseStoresZero) {
      ep.store(fabric::rma, site.line, 0);
    } else {
      ep.fetch_add(fabric::rma, site.line, minus(kWriter));
    }
    if (D != RwDefect::kMasterLeftEarly) ep.fetch_add(fabric::rma, site.group, minus(1));
    if (D == RwDefect::kFlushAfterRelease) ep.flush(site.line.rank());
    if (D == RwDefect::kTokenAfterRelease) {
      ep.store(fabric::rma, site.line + locks::kTokenOffset, grant.token);
    }
  }

  template <fabric::Endpoint E>
  Status acquire_all(locks::LockAgent<E>& agent, fabric::Address group, Deadline deadline) const {
    const bool entered = agent.ep.retry_until(
        [&] {
          const std::uint64_t old = agent.ep.fetch_add(fabric::rma, group, kAll);
          if ((old & (kAll - 1)) == 0 || D == RwDefect::kAllIgnoresWriters) return true;
          if (D != RwDefect::kAllDoesNotBackOut)
            agent.ep.fetch_add(fabric::rma, group, minus(kAll));
          return false;
        },
        fabric::Backoff::none(), deadline);
    return entered ? Status() : Status(Code::kTimeout);
  }
  template <fabric::Endpoint E>
  void release_all(locks::LockAgent<E>& agent, fabric::Address group) const {
    agent.ep.fetch_add(fabric::rma, group, minus(kAll));
  }

  template <fabric::Endpoint E>
  locks::LockDump dump(locks::LockAgent<E>& agent, const locks::LockSite& site) const {
    locks::LockDump dump{.kind = "mutant-rw"};
    const std::uint64_t word = agent.ep.load(fabric::rma, site.line);
    dump.write_held = (word & kWriter) != 0;
    dump.readers = word / kReader;
    dump.all_holders = agent.ep.load(fabric::rma, site.group) / kAll;
    if (const auto holder = locks::dump_record(agent, site, dump); holder != 0) {
      dump.holder = fabric::AgentId::from_word(holder);
    }
    return dump;
  }

 private:
  static constexpr std::uint64_t kWriter = 1;
  static constexpr std::uint64_t kReader = 2;
  static constexpr std::uint64_t kAll = 1ULL << 32;
  static constexpr std::uint64_t minus(std::uint64_t amount) { return ~amount + 1; }

  template <fabric::Endpoint E>
  static bool attempt(locks::LockAgent<E>& agent, const locks::LockSite& site, locks::Mode mode) {
    E& ep = agent.ep;
    if (mode == locks::Mode::kRead) {
      const bool free = (ep.fetch_add(fabric::rma, site.line, kReader) & kWriter) == 0;
      if (free || D == RwDefect::kReaderIgnoresWriter) return true;
      if (D != RwDefect::kReaderDoesNotBackOut)
        ep.fetch_add(fabric::rma, site.line, minus(kReader));
      return false;
    }
    if (ep.fetch_add(fabric::rma, site.group, 1) >= kAll) {
      if (D != RwDefect::kWriterKeepsMaster) ep.fetch_add(fabric::rma, site.group, minus(1));
      return false;
    }
    std::uint64_t expected = 0;
    if (D == RwDefect::kWriterIgnoresReaders) {
      expected = ep.load(fabric::rma, site.line) & ~kWriter;
    }
    if (ep.compare_swap(fabric::rma, site.line, expected, expected + kWriter) == expected) {
      return true;
    }
    if (D != RwDefect::kWriterKeepsMaster) ep.fetch_add(fabric::rma, site.group, minus(1));
    return false;
  }
  template <fabric::Endpoint E>
  static locks::Grant granted(locks::LockAgent<E>& agent, const locks::LockSite& site,
                              locks::Mode mode) {
    locks::Grant grant{.mode = mode};
    if (mode == locks::Mode::kRead) {
      ++agent.stats.reads;
    } else {
      ++agent.stats.writes;
      if (D == RwDefect::kWritesBeside) {
        agent.ep.post_store(fabric::rma, site.line + locks::kLockLineBytes,
                            agent.ep.agent().word());
      }
      if (D == RwDefect::kTokenAfterRelease) {
        grant.token = agent.ep.load(fabric::rma, site.line + locks::kTokenOffset) + 1;
        return grant;
      }
      locks::record_grant(agent, site, grant, agent.ep.agent().word());
    }
    return grant;
  }
};

}  // namespace keyway::conformance
