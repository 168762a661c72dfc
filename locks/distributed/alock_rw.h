// RW-ALock: a reader-writer lock with ALock's asymmetry: no loopback, and readers share.
//
// *What.* Writers enter by AlockCore. Readers of each class count themselves in a word of their
// class; the write word, stored by the writer at the front, excludes them while it is 1, across all
// hand-overs within a cohort. Waiting readers enter between one write phase and the next.
// *Words of the line.* As in alock_core.h, and 5 write phase (0 or 1), 6 local readers, 7 remote
// readers: bits 31..0 inside, 63..32 waiting.
// *Thread safety.* As lock.h says.
// *Invariants.* A1 to A6 of alock_core.h, and
//   W1  A reader counts itself inside and then reads the write word; a writer stores 1 there and
//       then reads both counts. Each pair is ordered, so of a concurrent reader and writer at least
//       one sees the other.
//   W2  A count is changed only by read-modify-writes of its class, the write word only by
//       plain stores of the writer at the front.
//   W3  A writer sets the write word to 1 only after it has seen both waiting counts at 0.
//   W4  A reader stays counted as waiting until it is inside. (If it stopped counting as waiting
//       before it reads the write word again, each next writer could set the word in between.)
//   By W3 and W4 a waiting reader is passed by the phase during which it arrived and, if the next
//   writer had read the counts before, by one more phase; a phase is at most one budget of writers.
//   Beyond ALock's rules a writer waits for readers only: while the word is 1 no reader enters, and
//   while it is 0 the waiting readers enter. So a writer enters as surely as in ALock.
// *Source.* Ours, on SPAA'24; the order of phases is that of phase-fair locks (Brandenburg and
// Anderson, ECRTS'09).
#pragma once

#include "keyway/locks/distributed/alock_core.h"
#include "keyway/locks/distributed/footprint.h"

namespace keyway::locks {

class ALockRw {
 public:
  static constexpr std::string_view kName = "alock-rw";
  static constexpr std::array kNames = {kName};
  static constexpr std::array<std::string_view, 0> kChecked{};
  /// A reader counts itself and checks for a writer in one round trip. A writer enters as in ALock,
  /// checks for waiting readers, sets its word and reads both counts in one round trip, and clears
  /// the word before it leaves. For local agents most of these operations are loads.
  static constexpr std::array kFootprints = {
      Footprint{.kind = kName,
                .text = kName,
                .readers_share = true,
                .local_read = {.cpu = 2},
                .remote_read = {.far_rma = 2, .orders = 1},
                .local_write = {.cpu = 4},
                .remote_write = {.far_rma = 5, .orders = 3}}};

  static Result<ALockRw> make(LockParams params) {
    auto rules = AlockRules::take(params);
    if (!rules.ok()) return rules.status();
    if (auto rest = params.require_all_taken(); !rest.ok()) return rest;
    ALockRw lock;
    lock.rules_ = *rules;
    return lock;
  }
  LockTraits traits() const {
    return {.name = kName,
            .readers_share = true,
            .queued = true,
            .starvation_free = rules_.tail.how == TailSwap::kSwap};
  }

  template <fabric::Endpoint E>
  Result<Grant> acquire(LockAgent<E>& agent, const LockSite& site, Mode mode,
                        Deadline deadline) const {
    if (mode == Mode::kWrite) return acquire_write(agent, site, deadline);
    const Line<E> line(agent.ep, site.line);
    if (line.comes_in(kInside)) return shared(agent);
    ++agent.stats.contended;
    if (!line.waits_to_come_in(rules_.backoff, deadline.started(agent.ep.now_ns()))) {
      ++agent.stats.timeouts;
      return timed_out(dump(agent, site));
    }
    return shared(agent);
  }

  template <fabric::Endpoint E>
  Result<Grant> try_acquire(LockAgent<E>& agent, const LockSite& site, Mode mode) const {
    const Line<E> line(agent.ep, site.line);
    if (mode == Mode::kWrite) return try_write(agent, site, line);
    if (line.comes_in(kInside)) return shared(agent);
    line.count(minus(kInside));
    ++agent.stats.try_failures;
    return Code::kBusy;
  }

  template <fabric::Endpoint E>
  void release(LockAgent<E>& agent, const LockSite& site, Grant& grant) const {
    const Line<E> line(agent.ep, site.line);
    if (grant.mode == Mode::kWrite) {
      const auto hold = grant.payload.as<AlockHold>();
      return leave_queue(agent, site, hold.node(), hold.budget(), true);
    }
    agent.ep.order(site.line.rank());  // L3
    line.count(minus(kInside));
    agent.ep.flush(site.line.rank());
  }

  template <fabric::Endpoint E>
  LockDump dump(LockAgent<E>& agent, const LockSite& site) const {
    LockDump dump{.kind = std::string(kName)};
    const ByClass words(agent.ep);
    dump.write_held = words.load(site.line + kPhaseOffset) != 0;
    dump.readers = inside(words.load(site.line + kLocalReadersOffset)) +
                   inside(words.load(site.line + kRemoteReadersOffset));
    dump_cohorts(agent, site, dump);
    return dump;
  }

 private:
  static constexpr std::uint64_t kPhaseOffset = 40;
  static constexpr std::uint64_t kLocalReadersOffset = 48;
  static constexpr std::uint64_t kRemoteReadersOffset = 56;
  static constexpr std::uint64_t kInside = 1;
  static constexpr std::uint64_t kWaiting = 1ULL << 32;
  static constexpr std::uint64_t inside(std::uint64_t count) { return count & (kWaiting - 1); }
  static constexpr std::uint64_t waiting(std::uint64_t count) { return count / kWaiting; }
  static constexpr std::uint64_t minus(std::uint64_t amount) { return ~amount + 1; }

  // The reader-writer words of the line, as one agent uses them.
  template <fabric::Endpoint E>
  class Line {
   public:
    Line(E& ep, fabric::Address line)
        : ep_(ep),
          words_(ep),
          phase_(line + kPhaseOffset),
          local_(line + kLocalReadersOffset),
          remote_(line + kRemoteReadersOffset),
          mine_(ep.is_local(line.rank()) ? local_ : remote_) {}

    void count(std::uint64_t amount) const { words_.fetch_add(mine_, amount); }
    /// Counts itself and then checks whether readers may enter. W1.
    bool comes_in(std::uint64_t amount) const {
      words_.post_add(mine_, amount);
      ep_.order(phase_.rank());
      const fabric::Pending phase = words_.post_load(phase_);
      return phase.value(ep_.flush(phase_.rank())) == 0;
    }
    /// A reader that counts itself inside during a write phase. False, and no longer counted, if
    /// the deadline passes first.
    bool waits_to_come_in(const fabric::Backoff& backoff, Deadline deadline) const {
      count(kWaiting + minus(kInside));
      while (wait_for_readers_phase(backoff, deadline)) {
        if (comes_in(kInside)) {
          words_.post_add(mine_, minus(kWaiting));  // W4; rides on the release's flush
          return true;
        }
        count(minus(kInside));
      }
      count(minus(kWaiting));
      return false;
    }

    /// Whether `part` of both counts is 0 now.
    bool nobody(std::uint64_t (*part)(std::uint64_t)) const {
      const fabric::Pending local = words_.post_load(local_);
      const fabric::Pending remote = words_.post_load(remote_);
      const fabric::Flushed both = ep_.flush(phase_.rank());
      return part(local.value(both)) == 0 && part(remote.value(both)) == 0;
    }
    bool wait_until_empty(std::uint64_t (*part)(std::uint64_t), const fabric::Backoff& backoff,
                          Deadline deadline) const {
      return nobody(part) || ep_.retry_until([&] { return nobody(part); }, backoff, deadline);
    }
    void raise() const {
      words_.post_store(phase_, 1);
      ep_.order(phase_.rank());  // W1
    }
    void lower() const { words_.post_store(phase_, 0); }

   private:
    bool wait_for_readers_phase(const fabric::Backoff& backoff, Deadline deadline) const {
      const auto over = [](std::uint64_t phase) { return phase == 0; };
      if (phase_.rank() == ep_.rank()) return !ep_.wait_until(phase_, over, deadline).expired;
      return ep_.retry_until([&] { return over(words_.load(phase_)); }, backoff, deadline);
    }

    E& ep_;
    ByClass<E> words_;
    fabric::Address phase_;
    fabric::Address local_;
    fabric::Address remote_;
    fabric::Address mine_;
  };

  template <fabric::Endpoint E>
  static Grant shared(LockAgent<E>& agent) {
    ++agent.stats.reads;
    return Grant{.mode = Mode::kRead};
  }

  template <fabric::Endpoint E>
  Result<Grant> acquire_write(LockAgent<E>& agent, const LockSite& site, Deadline deadline) const {
    using Outcome = typename AlockCore<E>::Outcome;
    auto entry = AlockCore<E>(rules_, agent, site.line).acquire(deadline);
    if (!entry.ok()) return entry.status();
    const Line<E> line(agent.ep, site.line);
    if (entry->outcome == Outcome::kEntered) {
      if (entry->held_on || begins_phase(agent, line, deadline))
        return exclusive(agent, site, *entry);
      leave_queue(agent, site, entry->hold.node(), entry->hold.budget(), false);
    }
    ++agent.stats.timeouts;
    return timed_out(dump(agent, site));
  }

  /// The writer at the front excludes readers. False if the deadline passed: the word is 0.
  template <fabric::Endpoint E>
  bool begins_phase(LockAgent<E>& agent, const Line<E>& line, Deadline deadline) const {
    if (!line.nobody(waiting)) {  // W3
      ++agent.stats.contended;
      if (!line.wait_until_empty(waiting, rules_.backoff, deadline)) return false;
    }
    line.raise();
    if (line.nobody(inside)) return true;
    ++agent.stats.contended;
    if (line.wait_until_empty(inside, rules_.backoff, deadline)) return true;
    line.lower();
    return false;
  }

  template <fabric::Endpoint E>
  Result<Grant> try_write(LockAgent<E>& agent, const LockSite& site, const Line<E>& line) const {
    using Outcome = typename AlockCore<E>::Outcome;
    auto entry = AlockCore<E>(rules_, agent, site.line).try_acquire();
    if (!entry.ok()) return entry.status();
    if (entry->outcome == Outcome::kEntered) {
      if (line.nobody(any)) {  // W3; else readers would wait needlessly
        line.raise();
        if (line.nobody(inside)) return exclusive(agent, site, *entry);
        line.lower();
      }
      leave_queue(agent, site, entry->hold.node(), entry->hold.budget(), false);
    }
    ++agent.stats.try_failures;
    return Code::kBusy;
  }
  static std::uint64_t any(std::uint64_t count) { return count; }

  /// `raised`: the write word is 1 and may stay 1 for the cohort's next writer.
  template <fabric::Endpoint E>
  void leave_queue(LockAgent<E>& agent, const LockSite& site, std::uint32_t node,
                   std::uint32_t budget, bool raised) const {
    const Line<E> line(agent.ep, site.line);
    AlockCore<E> core(rules_, agent, site.line);
    if (core.release(node, budget, raised, [&] { line.lower(); })) {
      agent.stats.handed_over(agent.ep.is_local(site.line.rank()) ? agent.local_level : 1);
    }
  }

  template <fabric::Endpoint E>
  static Grant exclusive(LockAgent<E>& agent, const LockSite& site,
                         const typename AlockCore<E>::Entry& entry) {
    ++agent.stats.writes;
    Grant grant{.mode = Mode::kWrite, .payload = entry.hold};
    record_grant(agent, site, grant, agent.nodes.address(entry.hold.node()).word());
    return grant;
  }

  AlockRules rules_;
};

}  // namespace keyway::locks
