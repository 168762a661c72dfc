// foMPI-RW: readers and a writer in one counter, with LOCKALL; with back-off it is GBH.
//
// *What.* A reader-writer lock without queues, best effort: it is neither fair nor free of
// starvation, and LOCKALL and a writer in lockstep can fail each other's attempts while the lock is
// free. Word 0 of the line counts: bit 0 a writer holds it, bits 23..1 readers, so a reader adds 2.
// The group line's word 0 (foMPI's master word) counts bits 31..0 exclusive holders of the group
// and agents that try to become one, bits 63..32 holders of LOCKALL; each excludes the other.
// With versions=on, bits 63..24 count the exclusive visits that have ended: then a remote agent may
// post reads together with its first attempt, and learn from the word whether they were made under
// the lock. Tries of a reader and a writer in lockstep can fail each other then, too.
// *Thread safety.* As lock.h says.
// *Invariants.*
//   G1  Bit 0 is set by a compare-and-swap from 0, or with versions=on by an or, and cleared by its
//       setter only.
//   G2  A failed attempt subtracts exactly what it added (L2).
//   G3  With lockall=on an exclusive holder has 1 in the master word for as long as it holds.
//   G4  An agent knows a version if it has seen it in the word without a writer, or has made it.
//       If it finds that version and no writer as it enters, then no writer has been inside since
//       it posted what it reads: one that was would have left a higher version. A version that it
//       only expects, of a writer that is inside, proves nothing. Version 0 is always known: none
//       is lower. (2^40 writes, by others and between two visits of one agent, repeat a version.)
//   G5  With versions=on a release is posted (push()) once the holder's operations are complete, so
//       other agents may find the lock held for a moment longer. If the agent's next attempt passes
//       it on the way, it fails as any other does; its tries and dumps wait for it.
// *Source.* Gerstenberger, Besta, Hoefler (SC'13) as described in the SCC paper, section 4.2.
// Deviation: a writer releases by subtracting 1, not by storing zero: a store would wipe out the +2
// of a reader that is about to back out, and its -2 would then make the counter negative. Levers:
// backoff_min_ns, backoff_max_ns, lockall (on: foMPI's master word; off: word 0 alone, for locks
// that are never taken all at once, such as the store's stripes), versions (ours; off: an acquire
// is as in the paper).
#pragma once

#include "keyway/locks/distributed/footprint.h"
#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/seen_versions.h"

namespace keyway::locks {

class FompiRw {
 public:
  static constexpr std::string_view kName = "fompi-rw";
  static constexpr std::string_view kNameWithBackoff = "gbh";
  static constexpr std::array kNames = {kName, kNameWithBackoff};
  static constexpr std::array<std::string_view, 2> kChecked = {"gbh:lockall=off",
                                                               "gbh:lockall=off,versions=on"};
  static constexpr std::array kFootprints = {Footprint{.kind = kNameWithBackoff,
                                                       .text = "gbh:lockall=off",
                                                       .readers_share = true,
                                                       .waiting = Waiting::kBackoff,
                                                       .local_read = {.near_rma = 2},
                                                       .remote_read = {.far_rma = 2},
                                                       .local_write = {.near_rma = 2},
                                                       .remote_write = {.far_rma = 2}}};
  /// GBH's default back-off: from about one remote atomic to about one hundred.
  static constexpr fabric::Backoff kDefaultBackoff{500, 50'000};

  static Result<FompiRw> make(LockParams params) {
    FompiRw lock;
    auto backoff = params.take_backoff(params.kind() == kNameWithBackoff ? kDefaultBackoff
                                                                         : fabric::Backoff::none());
    if (!backoff.ok()) return backoff.status();
    lock.backoff_ = *backoff;
    auto lockall = params.take_switch("lockall", true);
    if (!lockall.ok()) return lockall.status();
    lock.lockall_ = *lockall;
    auto versions = params.take_switch("versions", false);
    if (!versions.ok()) return versions.status();
    lock.versions_ = *versions;
    if (lock.versions_ && lock.lockall_) {
      return Status(Code::kInvalidArgument, "versions=on needs lockall=off");
    }
    if (auto rest = params.require_all_taken(); !rest.ok()) return rest;
    return lock;
  }
  LockTraits traits() const { return {.name = name(), .readers_share = true}; }

  template <fabric::Endpoint E>
  Result<Grant> acquire(LockAgent<E>& agent, const LockSite& site, Mode mode,
                        Deadline deadline) const {
    return acquire(agent, site, mode, deadline, NoReads());
  }
  /// The same. With versions=on a remote agent calls post_reads() to post reads of the lock's home
  /// rank beside its first attempt; the grant says whether they were made under the lock.
  template <fabric::Endpoint E, class PostReads>
  Result<Grant> acquire(LockAgent<E>& agent, const LockSite& site, Mode mode, Deadline deadline,
                        PostReads&& post_reads) const {
    const bool counts = counts_visits(agent.ep);
    Grant grant{.mode = mode};
    if (!(counts ? counting_attempt(agent, site, grant, post_reads) : attempt(agent, site, mode))) {
      ++agent.stats.contended;
      const bool entered = counts ? enters_counting(agent, site, grant, deadline)
                                  : agent.ep.retry_until([&] { return attempt(agent, site, mode); },
                                                         backoff_, deadline);
      if (!entered) {
        ++agent.stats.timeouts;
        return timed_out(dump(agent, site));
      }
    }
    return granted(agent, site, grant);
  }

  template <fabric::Endpoint E>
  Result<Grant> try_acquire(LockAgent<E>& agent, const LockSite& site, Mode mode) const {
    Grant grant{.mode = mode};
    complete_release(agent.ep, site);
    if (counts_visits(agent.ep) ? counting_attempt(agent, site, grant, NoReads())
                                : attempt(agent, site, mode)) {
      return granted(agent, site, grant);
    }
    ++agent.stats.try_failures;
    return Code::kBusy;
  }

  template <fabric::Endpoint E>
  void release(LockAgent<E>& agent, const LockSite& site, Grant& grant) const {
    E& ep = agent.ep;
    ep.flush(site.line.rank());  // L3; a reader's posted reads as well
    if (counts_visits(ep)) return post_release(agent, site, grant);
    if (grant.mode == Mode::kRead) {
      ep.fetch_add(fabric::rma, site.line, minus(kReader));
      return;
    }
    ep.fetch_add(fabric::rma, site.line, minus(kWriter));  // G1
    if (uses_master(site)) ep.fetch_add(fabric::rma, site.group, minus(kExclusive));
  }

  /// LOCKALL: shared access to every lock of the group at once; one atomic, regardless of their
  /// number. Refuses a kind made with lockall=off. release_all() flushes nothing: the group may
  /// span ranks, so the holder must flush its posted operations before.
  template <fabric::Endpoint E>
  Status acquire_all(LockAgent<E>& agent, fabric::Address group, Deadline deadline) const {
    if (!lockall_ || group.is_null()) {
      return {Code::kUnsupported, "LOCKALL needs a lock made with lockall=on and a group line"};
    }
    const bool entered = agent.ep.retry_until(
        [&] {
          const std::uint64_t old = agent.ep.fetch_add(fabric::rma, group, kAll);
          if ((old & kExclusiveMask) == 0) return true;
          agent.ep.fetch_add(fabric::rma, group, minus(kAll));  // G2
          return false;
        },
        backoff_, deadline);
    if (entered) return {};
    ++agent.stats.timeouts;
    return {Code::kTimeout,
            "the deadline passed while waiting for LOCKALL: writers hold locks of the group"};
  }
  template <fabric::Endpoint E>
  void release_all(LockAgent<E>& agent, fabric::Address group) const {
    agent.ep.fetch_add(fabric::rma, group, minus(kAll));
  }

  template <fabric::Endpoint E>
  LockDump dump(LockAgent<E>& agent, const LockSite& site) const {
    LockDump dump{.kind = std::string(name())};
    complete_release(agent.ep, site);
    const std::uint64_t word = agent.ep.load(fabric::rma, site.line);
    dump.write_held = (word & kWriter) != 0;
    dump.readers = (word & kInside) / kReader;
    if (uses_master(site)) dump.all_holders = agent.ep.load(fabric::rma, site.group) / kAll;
    if (const std::uint64_t holder = dump_record(agent, site, dump); holder != 0) {
      dump.holder = fabric::AgentId::from_word(holder);
    }
    return dump;
  }

 private:
  static constexpr std::uint64_t kWriter = 1;
  static constexpr std::uint64_t kReader = 2;
  static constexpr std::uint64_t kVisit = 1 << 24;      // adds one to the version
  static constexpr std::uint64_t kInside = kVisit - 1;  // the writer's bit, and readers
  static constexpr std::uint64_t kExclusive = 1;
  static constexpr std::uint64_t kExclusiveMask = 0xffffffff;
  static constexpr std::uint64_t kAll = 1ULL << 32;
  static constexpr std::uint64_t minus(std::uint64_t amount) { return ~amount + 1; }

  std::string_view name() const { return backoff_.max_ns == 0 ? kName : kNameWithBackoff; }
  bool uses_master(const LockSite& site) const { return lockall_ && !site.group.is_null(); }

  /// In a job of one access class nothing is remote, and versions are of no use.
  template <fabric::Endpoint E>
  bool counts_visits(const E& ep) const {
    return versions_ && !ep.one_class();
  }
  static std::uint64_t version(std::uint64_t word) { return word / kVisit; }
  static bool admits(std::uint64_t word, Mode mode) {
    return (word & (mode == Mode::kRead ? kWriter : kInside)) == 0;
  }

  /// After a first attempt. A writer looks first, because its attempt keeps readers out for a
  /// moment when it fails.
  template <fabric::Endpoint E>
  bool enters_counting(LockAgent<E>& agent, const LockSite& site, Grant& grant,
                       Deadline deadline) const {
    const auto attempt = [&] {
      return (grant.mode == Mode::kRead ||
              admits(agent.ep.load(fabric::rma, site.line), grant.mode)) &&
             counting_attempt(agent, site, grant, NoReads());
    };
    return agent.ep.retry_until(attempt, backoff_, deadline);
  }

  /// One round trip, whatever the version is.
  template <fabric::Endpoint E, class PostReads>
  static bool counting_attempt(LockAgent<E>& agent, const LockSite& site, Grant& grant,
                               PostReads&& post_reads) {
    constexpr bool kPosts = !std::is_same_v<std::remove_cvref_t<PostReads>, NoReads>;
    E& ep = agent.ep;
    const std::uint32_t rank = site.line.rank();
    const bool remote = !ep.is_local(rank);
    SeenVersions* const seen = remote ? &agent.template cache<SeenVersions>() : nullptr;
    const std::uint64_t known = remote ? seen->of(site.line) : 0;
    const bool reads = grant.mode == Mode::kRead;
    const fabric::Pending before = reads ? ep.post_fetch_add(fabric::rma, site.line, kReader)
                                         : ep.post_fetch_or(fabric::rma, site.line, kWriter);
    if (remote) post_reads();
    const std::uint64_t word = before.value(ep.flush(rank));
    const bool written = (word & kWriter) != 0;
    if (remote && !written) seen->learn(site.line, version(word));
    if (admits(word, grant.mode)) {
      grant.payload = word & ~kInside;
      grant.read_first = kPosts && remote && version(word) == known;  // G4
      return true;
    }
    if (reads || !written) {  // G2: the bit is ours
      ep.fetch_add(fabric::rma, site.line, minus(reads ? kReader : kWriter));
    }
    return false;
  }

  template <fabric::Endpoint E>
  bool attempt(LockAgent<E>& agent, const LockSite& site, Mode mode) const {
    E& ep = agent.ep;
    if (mode == Mode::kRead) {
      if ((ep.fetch_add(fabric::rma, site.line, kReader) & kWriter) == 0) return true;
      ep.fetch_add(fabric::rma, site.line, minus(kReader));  // G2
      return false;
    }
    if (uses_master(site) && ep.fetch_add(fabric::rma, site.group, kExclusive) >= kAll) {
      ep.fetch_add(fabric::rma, site.group, minus(kExclusive));  // G2
      return false;
    }
    if (ep.compare_swap(fabric::rma, site.line, 0, kWriter) == 0) return true;
    if (uses_master(site)) ep.fetch_add(fabric::rma, site.group, minus(kExclusive));  // G2
    return false;
  }

  /// G5.
  template <fabric::Endpoint E>
  static void post_release(LockAgent<E>& agent, const LockSite& site, const Grant& grant) {
    E& ep = agent.ep;
    if (grant.mode == Mode::kRead) {
      ep.post_fetch_add(fabric::rma, site.line, minus(kReader));
    } else {
      ep.post_fetch_add(fabric::rma, site.line, kVisit - kWriter);  // G1
      if (!ep.is_local(site.line.rank())) {
        auto& seen = agent.template cache<SeenVersions>();  // made by the acquire
        seen.learn(site.line, version(grant.payload.as<std::uint64_t>()) + 1);  // G4
      }
    }
    ep.push(site.line.rank());
  }
  /// The agent's own unlock may still be on its way.
  template <fabric::Endpoint E>
  void complete_release(E& ep, const LockSite& site) const {
    if (counts_visits(ep)) ep.flush(site.line.rank());
  }

  template <fabric::Endpoint E>
  static Grant granted(LockAgent<E>& agent, const LockSite& site, Grant grant) {
    if (grant.mode == Mode::kRead) {
      ++agent.stats.reads;
    } else {
      ++agent.stats.writes;
      record_grant(agent, site, grant, agent.ep.agent().word());
    }
    return grant;
  }

  fabric::Backoff backoff_;
  bool lockall_ = true;
  bool versions_ = false;
};

}  // namespace keyway::locks
