// RMA-RW with one defect of choice; see mutant_spin.h. The queue of the writers is one queue, at
// the root, and the counters go round soon; else it is the lock of rma_rw.h.
#pragma once

#include <algorithm>
#include <vector>

#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/mcs_queue.h"
#include "keyway/locks/distributed/rma_rw_counter.h"
#include "keyway/locks/distributed/satellite.h"

namespace keyway::conformance {

enum class RmaRwDefect {
  kNone,
  kSkipsReadersInside,  // design R1: closes the counters and enters
  kResetsInTwoSteps,    // design R2: a reader's reset takes arrive down, and then depart
  kReadsCountsApart,    // design R2: a writer reads depart, and then arrive
  kResetErasesFlag,     // design R3: a reader's reset is a plain store
  kAsksForWritersOnce,  // design R4: a reader at t_r does not look at the queue again
  kResetsTwice,         // design R5: a reader's reset does not depend on what it has seen
  kOnlyOneResets,       // design R6: only the reader that meets exactly t_r resets
  kReaderBacksOut,      // design R7: a reader that meets a closed counter comes again later
  kWaitsForEvenPhase,   // design R7: ... waits for readers' mode, not for the end of its phase
  kResetAfterOpening,   // release does not wait for the writer's reset
  kGivesUpByDeparting,  // a registered reader gives up as if it had been inside
  kWriterStaysClosed,   // a writer that gives up does not open the counters again
  kReleaseSkipsFlush,   // L3: a writer opens before its posted writes are complete
  kClosesOneCounter,    // R1: a writer closes its own counter only
};

enum class CountersAt { kHome, kLastRank, kEachRank };

/// `t_r` and `t_l1` are the levers.
template <RmaRwDefect D, std::uint64_t t_r = 1, std::uint64_t t_l1 = 1,
          CountersAt at = CountersAt::kHome>
class MutantRmaRw {
 public:
  static Result<MutantRmaRw> make(const locks::LockParams&) { return MutantRmaRw(); }
  locks::LockTraits traits() const {
    return {.name = "mutant-rma-rw",
            .readers_share = true,
            .queued = true,
            .starvation_free = true,
            .satellites = true};
  }

  template <fabric::Endpoint E>
  Result<locks::Grant> acquire(locks::LockAgent<E>& agent, const locks::LockSite& site,
                               locks::Mode mode, Deadline deadline) const {
    deadline = deadline.started(agent.ep.now_ns());
    auto grant = mode == locks::Mode::kRead ? Reader<E>(agent, site).acquire(deadline)
                                            : Writer<E>(agent, site).acquire(deadline);
    if (grant.code() != Code::kTimeout) return grant;
    ++agent.stats.timeouts;
    return locks::timed_out(dump(agent, site));
  }
  template <fabric::Endpoint E>
  Result<locks::Grant> try_acquire(locks::LockAgent<E>& agent, const locks::LockSite& site,
                                   locks::Mode mode) const {
    auto grant = mode == locks::Mode::kRead ? Reader<E>(agent, site).try_acquire()
                                            : Writer<E>(agent, site).try_acquire();
    if (grant.code() == Code::kBusy) ++agent.stats.try_failures;
    return grant;
  }
  template <fabric::Endpoint E>
  void release(locks::LockAgent<E>& agent, const locks::LockSite& site, locks::Grant& grant) const {
    if (grant.mode == locks::Mode::kWrite) return Writer<E>(agent, site).release(grant);
    agent.ep.flush(site.line.rank());
    agent.ep.fetch_add(fabric::rma, own_counter(agent, site), Word::kDepart);
  }
  template <fabric::Endpoint E>
  locks::LockDump dump(locks::LockAgent<E>& agent, const locks::LockSite& site) const {
    locks::LockDump dump{.kind = "mutant-rma-rw", .write_held = true};
    for (std::uint32_t i = 0; i < counters(agent); ++i) {
      const std::uint64_t word =
          agent.ep.load(fabric::rma, locks::counter_word(site, first_counter(agent) + i));
      if (!Word::closed(word)) dump.readers += Word::inside(word);
      dump.write_held = dump.write_held && Word::closed(word);
    }
    locks::dump_line(agent, site, dump);
    locks::name_holder(agent, locks::dump_queue(agent, site.line, dump.queue), dump);
    return dump;
  }

 private:
  using Word = locks::BasicCounterWord<2, 1, 3>;
  using Defect = RmaRwDefect;
  static constexpr std::uint64_t kModeChange = 0;

  // So many ranks in a row have a counter each.
  template <class E>
  static std::uint32_t first_counter(const locks::LockAgent<E>& agent) {
    return at == CountersAt::kLastRank ? agent.ep.ranks() - 1 : 0;
  }
  template <class E>
  static std::uint32_t counters(const locks::LockAgent<E>& agent) {
    return at == CountersAt::kEachRank ? agent.ep.ranks() : 1;
  }
  template <class E>
  static fabric::Address own_counter(const locks::LockAgent<E>& agent,
                                     const locks::LockSite& site) {
    const bool own = at == CountersAt::kEachRank;
    return locks::counter_word(site, own ? agent.ep.rank() : first_counter(agent));
  }
  /// What a word gains when `n` are counted neither among the arrived nor among the gone any more.
  static constexpr std::uint64_t minus(std::uint64_t n) {
    return 0 - n * (Word::kArrive + Word::kDepart);
  }

  template <fabric::Endpoint E>
  struct Reader {
    E& ep;
    locks::LockStats& stats;
    fabric::Address counter;
    fabric::Address root;

    Reader(locks::LockAgent<E>& agent, const locks::LockSite& site)
        : ep(agent.ep), stats(agent.stats), counter(own_counter(agent, site)), root(site.line) {}

    Result<locks::Grant> acquire(Deadline deadline) {
      if (D == Defect::kReaderBacksOut) return acquire_by_backing_out(deadline);
      const std::uint64_t old = ep.fetch_add(fabric::rma, counter, Word::kArrive);
      if (Word::closed(old) || Word::arrive(old) >= t_r) {
        const bool entered =
            Word::closed(old) ? wait_for_opening(old, deadline) : wait_at_gate(old, deadline);
        if (!entered && withdraw(old)) return Code::kTimeout;
      }
      ++stats.reads;
      return locks::Grant{.mode = locks::Mode::kRead};
    }
    Result<locks::Grant> try_acquire() {
      const std::uint64_t old = ep.fetch_add(fabric::rma, counter, Word::kArrive);
      const bool enters =
          !Word::closed(old) && (Word::arrive(old) < t_r || passes_gate(old, false));
      if (!enters && withdraw(old)) return Code::kBusy;
      ++stats.reads;
      return locks::Grant{.mode = locks::Mode::kRead};
    }

    Result<locks::Grant> acquire_by_backing_out(Deadline deadline) {
      std::uint64_t old = 0;
      const auto attempt = [&] {
        old = ep.fetch_add(fabric::rma, counter, Word::kArrive);
        return !Word::closed(old) || !withdraw(old);
      };
      if (!ep.retry_until(attempt, fabric::Backoff::none(), deadline)) return Code::kTimeout;
      if (!Word::closed(old) && Word::arrive(old) >= t_r && !wait_at_gate(old, deadline)) {
        if (withdraw(old)) return Code::kTimeout;
      }
      ++stats.reads;
      return locks::Grant{.mode = locks::Mode::kRead};
    }

    template <class Predicate>
    bool wait_for(Predicate&& predicate, Deadline deadline) {
      ++stats.contended;
      return !ep.wait_until_remote(counter, predicate, fabric::Backoff::none(), deadline).expired;
    }
    bool wait_for_opening(std::uint64_t old, Deadline deadline) {
      return wait_for(
          [old](std::uint64_t w) {
            if (D == Defect::kWaitsForEvenPhase) return !Word::closed(w);
            return Word::phase(w) != Word::phase(old);
          },
          deadline);
    }
    bool wait_at_gate(std::uint64_t old, Deadline deadline) {
      bool writers = false;
      if (D == Defect::kAsksForWritersOnce) writers = ep.load(fabric::rma, root) != 0;
      const auto passes = [&] { return passes_gate(old, writers); };
      return ep.retry_until(passes, fabric::Backoff::none(), deadline);
    }
    bool passes_gate(std::uint64_t old, bool writers) {
      const std::uint64_t word = ep.load(fabric::rma, counter);
      if (Word::closed(word) || Word::arrive(word) < t_r) return true;
      if (D == Defect::kOnlyOneResets && Word::arrive(old) != t_r) return false;
      if (D != Defect::kAsksForWritersOnce) writers = ep.load(fabric::rma, root) != 0;
      if (writers && Word::may_close(word)) return false;
      return reset(word);
    }
    bool reset(std::uint64_t word) {
      const std::uint64_t gone = Word::depart(word);
      switch (D) {
        case Defect::kResetsInTwoSteps:
          ep.fetch_add(fabric::rma, counter, 0 - gone * Word::kArrive);
          ep.fetch_add(fabric::rma, counter, 0 - gone * Word::kDepart);
          return true;
        case Defect::kResetErasesFlag:
          ep.store(fabric::rma, counter, Word::trimmed(word));
          return true;
        case Defect::kResetsTwice: ep.fetch_add(fabric::rma, counter, minus(gone)); return true;
        default: {
          const bool reset =
              ep.compare_swap(fabric::rma, counter, word, Word::trimmed(word)) == word;
          return reset || D != Defect::kOnlyOneResets;
        }
      }
    }
    bool withdraw(std::uint64_t old) {
      if (D == Defect::kGivesUpByDeparting) {
        ep.fetch_add(fabric::rma, counter, Word::kDepart);
        return true;
      }
      std::uint64_t word = old + Word::kArrive;
      while (Word::phase(word) == Word::phase(old)) {
        const auto found = ep.compare_swap(fabric::rma, counter, word, word - Word::kArrive);
        if (found == word) return true;
        word = found;
      }
      return false;
    }
  };

  template <fabric::Endpoint E>
  struct Writer {
    struct Slot {
      bool closed = false;
      bool gone = false;
      std::uint64_t seen = 0;
      std::uint64_t snapshot = 0;
    };
    locks::LockAgent<E>& agent;
    const locks::LockSite& site;
    E& ep;
    locks::McsQueue<E, fabric::RmaClass> queue;
    std::vector<Slot> slots;

    Writer(locks::LockAgent<E>& who, const locks::LockSite& where)
        : agent(who),
          site(where),
          ep(who.ep),
          queue(who, fabric::rma, where.line),
          slots(D == Defect::kClosesOneCounter ? 1 : counters(who)) {}

    fabric::Address counter(std::size_t i) const {
      return locks::counter_word(site, first_counter(agent) + static_cast<std::uint32_t>(i));
    }
    void flush_counters() {
      for (std::size_t i = 0; i < slots.size(); ++i) ep.flush(counter(i).rank());
    }

    Result<locks::Grant> acquire(Deadline deadline) {
      const auto node = queue.prepare();
      if (!node.ok()) return node.status();
      const auto entered = queue.enter(*node, deadline);
      if (entered.how != locks::Entered::How::kFirst) ++agent.stats.contended;
      if (entered.how == locks::Entered::How::kExpired) return Code::kTimeout;
      if (entered.how == locks::Entered::How::kHanded && entered.payload != kModeChange) {
        return granted(*node, entered.payload);
      }
      if (close(deadline)) return granted(*node, 0);
      queue.pass(agent.nodes.address(*node), kModeChange);
      agent.nodes.give_back(*node);
      return Code::kTimeout;
    }
    Result<locks::Grant> try_acquire() {
      const auto node = queue.prepare();
      if (!node.ok()) return node.status();
      if (queue.try_enter(*node)) {
        look();
        const auto empty = [](const Slot& slot) { return Word::empty(slot.seen); };
        if (std::all_of(slots.begin(), slots.end(), empty)) advance();
        if (all_gone()) return granted(*node, 0);
        give_up();
        queue.pass(agent.nodes.address(*node), kModeChange);
      }
      agent.nodes.give_back(*node);
      return Code::kBusy;
    }
    locks::Grant granted(std::uint32_t node, std::uint64_t turn) {
      ++agent.stats.writes;
      return {.mode = locks::Mode::kWrite, .token_known = false, .node = node, .told = turn};
    }
    void release(locks::Grant& grant) {
      if (D != Defect::kReleaseSkipsFlush) ep.flush(site.line.rank());
      if (D != Defect::kResetAfterOpening && D != Defect::kReleaseSkipsFlush) flush_counters();
      const fabric::Address node = agent.nodes.address(grant.node);
      const fabric::Address next = queue.linked(node);
      fabric::Address last = node;
      if (grant.told + 1 < t_l1 && !next.is_null()) {
        last = queue.hand_over(node, next, grant.told + 1);
      }
      bool handed = last.is_null();
      if (!handed) {
        for (std::size_t i = 0; i < slots.size(); ++i) {
          ep.fetch_add(fabric::rma, counter(i), Word::kPhase);
        }
        handed = queue.finish(node, last, kModeChange);
      }
      if (handed) agent.stats.handed_over(1);
      agent.nodes.give_back(grant.node);
    }

    bool close(Deadline deadline) {
      while (!all_gone()) {
        if (!ep.retry_until([this] { return look(); }, fabric::Backoff::none(), deadline)) {
          if (D != Defect::kWriterStaysClosed) give_up();
          return false;
        }
        advance();
      }
      for (std::size_t i = 0; i < slots.size(); ++i) {
        const std::uint64_t reset = Word::reset_of(slots[i].snapshot);
        if (reset != 0 && D != Defect::kSkipsReadersInside) {
          ep.post_fetch_add(fabric::rma, counter(i), reset);
        }
      }
      return true;
    }
    bool all_gone() const {
      return std::all_of(slots.begin(), slots.end(), [](const Slot& slot) { return slot.gone; });
    }
    bool look() {
      bool any = false;
      for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].gone) continue;
        slots[i].seen = ep.load(fabric::rma, counter(i));
        if (D == Defect::kReadsCountsApart) {
          const std::uint64_t later = ep.load(fabric::rma, counter(i));
          slots[i].seen = Word::make(Word::phase(later), Word::given_up(later),
                                     Word::arrive(slots[i].seen), Word::depart(later));
        }
        any = any || steps(slots[i]);
      }
      return any;
    }
    static bool steps(const Slot& slot) {
      if (slot.gone) return false;
      if (slot.closed) return Word::depart(slot.seen) == Word::arrive(slot.snapshot);
      if (Word::closed(slot.seen)) return false;
      return Word::empty(slot.seen) ||
             (Word::arrive(slot.seen) >= t_r && Word::may_close(slot.seen));
    }
    void advance() {
      for (std::size_t i = 0; i < slots.size(); ++i) {
        Slot& slot = slots[i];
        if (!slot.closed && steps(slot)) close_counter(slot, counter(i));
        if (slot.closed && (steps(slot) || D == Defect::kSkipsReadersInside)) slot.gone = true;
      }
    }
    void close_counter(Slot& slot, fabric::Address where) {
      if (Word::empty(slot.seen) && D != Defect::kReadsCountsApart) {
        const std::uint64_t closed = Word::closed_empty(slot.seen);
        slot.closed = slot.gone =
            ep.compare_swap(fabric::rma, where, slot.seen, closed) == slot.seen;
        return;
      }
      const bool looked_empty = Word::empty(slot.seen);
      slot.seen = slot.snapshot = ep.fetch_add(fabric::rma, where, Word::kPhase);
      slot.closed = true;
      slot.gone = looked_empty;
    }
    void give_up() {
      for (std::size_t i = 0; i < slots.size(); ++i) {
        if (!slots[i].closed) continue;
        const std::uint64_t gone = slots[i].gone ? Word::arrive(slots[i].snapshot)
                                                 : Word::depart(ep.load(fabric::rma, counter(i)));
        ep.fetch_add(fabric::rma, counter(i), Word::give_up_of(slots[i].snapshot, gone));
      }
    }
  };
};

}  // namespace keyway::conformance
