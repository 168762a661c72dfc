// CounterWriter: how the writer at the front of an RMA-RW lock closes the counters for readers and
// opens them again.
//
// *What.* Closes all physical counters, waits until no reader is inside any of them, opens them
// again. Operations on different counters are posted together, so their latencies overlap. rma_rw.h
// describes the protocol and the invariants, rma_rw_counter.h the word.
// *Thread safety.* Belongs to its agent, which is at the front of the root's queue.
// *Source.* HPDC'16 Listings 6 to 8; rma_rw.h lists the deviations.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "keyway/locks/distributed/counter_map.h"
#include "keyway/locks/distributed/queue_tree.h"
#include "keyway/locks/distributed/satellite.h"
#include "keyway/locks/distributed/seen_versions.h"
#include "keyway/locks/fabric/endpoint.h"

namespace keyway::locks {

template <class Word, fabric::Endpoint E>
class CounterWriter {
 public:
  using Slot = CounterMap::Slot;
  using State = CounterMap::Slot::State;

  /// `notes` of the map, for an agent that is to close the counters: taken before it is in a queue.
  /// `left`: the words of counters that the agent has closed when they were empty, as they are when
  /// they are open again and no reader has come.
  CounterWriter(E& ep, CounterMap& map, CounterMap::Notes notes, SeenVersions& left,
                const LockSite& site, std::uint64_t t_r, std::uint64_t t_l1)
      : ep_(ep),
        map_(map),
        slots_(std::move(notes)),
        left_(left),
        site_(site),
        t_r_(t_r),
        t_l1_(t_l1) {}
  CounterWriter(const CounterWriter&) = delete;
  CounterWriter& operator=(const CounterWriter&) = delete;
  ~CounterWriter() {
    if (!slots_.empty()) map_.give(std::move(slots_));
  }

  // --- RootPolicy (queue_tree.h)
  static constexpr bool kCounts = true;

  /// Closes every counter: at once if no reader is inside or t_r readers have arrived, else as soon
  /// as one of these holds. Then waits for the readers inside. Its posted operations are complete
  /// after flush_counters(). False if the deadline passed first: then everything is open again.
  bool seize(RootArrival, Deadline deadline) {
    begin();
    bool can_go_on = close_unchanged();
    while (!all_closed()) {
      can_go_on = can_go_on ||
                  ep_.retry_until([this] { return look(t_r_); }, fabric::Backoff::none(), deadline);
      if (!can_go_on) {
        give_up();
        return false;
      }
      advance();
      can_go_on = false;
    }
    post_resets();
    return true;
  }
  /// Closes every counter if no reader is inside any of them.
  bool try_seize(RootArrival) {
    begin();
    look(kNever);
    const auto can_go_on = [this](const Slot& slot) { return steps(slot, kNever); };
    if (std::all_of(slots_.begin(), slots_.end(), can_go_on)) advance();
    if (all_closed()) return true;
    give_up();
    return false;
  }
  bool goes_on(std::uint64_t count) const { return count + 1 < t_l1_; }
  /// Lets readers in, also those that registered. After flush_counters().
  void yield() {
    for (const std::uint32_t rank : map_.ranks) {
      ep_.post_fetch_add(fabric::rma, counter_word(site_, rank), Word::kPhase);
    }
    flush_counters();
  }

  /// Whether seize() has had to wait.
  bool waited() const { return looks_ > 1; }
  /// Completes operations that seize() has posted. Call it before the lock is passed on.
  void flush_counters() {
    for (const std::uint32_t rank : map_.ranks) ep_.flush(rank);
  }

 private:
  /// The number of counters in a batch of posted operations: few enough that every fabric keeps the
  /// results of a batch (endpoint.h, Pending).
  static constexpr std::size_t kBatch = 32;
  static constexpr std::uint64_t kNever = ~0ULL;

  void begin() {
    std::fill(slots_.begin(), slots_.end(), Slot());
    looks_ = 0;
  }
  fabric::Address counter(std::size_t i) const { return counter_word(site_, map_.ranks[i]); }

  /// Posts for each slot that `wants` and, when a batch has been flushed, gives each its result.
  template <class Wants, class Post, class Take>
  void in_batches(Wants&& wants, Post&& post, Take&& take) {
    std::array<std::pair<std::size_t, fabric::Pending>, kBatch> batch;
    for (std::size_t next = 0; next < slots_.size();) {
      std::size_t posted = 0;
      for (; next < slots_.size() && posted < kBatch; ++next) {
        if (wants(slots_[next])) batch[posted++] = {next, post(next, slots_[next])};
      }
      for (std::size_t k = 0; k < posted; ++k) {
        const auto& [i, pending] = batch[k];
        take(i, slots_[i], pending.value(ep_.flush(map_.ranks[i])));
      }
    }
  }

  /// Reads every counter that is not closed; returns whether one of them can take its next step.
  bool look(std::uint64_t t_r) {
    ++looks_;
    bool any = false;
    in_batches(
        [](const Slot& slot) { return slot.state != State::kClosed; },
        [this](std::size_t i, const Slot&) { return ep_.post_load(fabric::rma, counter(i)); },
        [&](std::size_t, Slot& slot, std::uint64_t word) {
          slot.seen = word;
          any = steps(slot, t_r) || any;
        });
    return any;
  }
  /// The first look. It closes the counters that no reader has used since this agent closed them.
  /// Returns whether one of the others can take its next step.
  bool close_unchanged() {
    ++looks_;
    bool any = false;
    in_batches([](const Slot&) { return true; },
               [this](std::size_t i, Slot& slot) {
                 const std::uint64_t left = ep_.one_class() ? 0 : left_.of(counter(i));
                 if (left == 0) return ep_.post_load(fabric::rma, counter(i));
                 KW_DCHECK(Word::empty(left) && !Word::closed(left));
                 slot.snapshot = left;
                 return ep_.post_compare_swap(fabric::rma, counter(i), left,
                                              Word::closed_empty(left));
               },
               [&](std::size_t i, Slot& slot, std::uint64_t word) {
                 const std::uint64_t left = std::exchange(slot.snapshot, 0);
                 slot.seen = word;
                 if (left != 0 && word == left) return note_closed(i, slot);
                 // If it closes with readers inside, nothing is learned: look the next time.
                 if (left != 0) left_.learn(counter(i), 0);
                 any = steps(slot, t_r_) || any;
               });
    return any;
  }
  /// An empty counter has been closed. If no reader comes, opening it leaves the word that is
  /// learned. A processor's look costs less than to learn.
  void note_closed(std::size_t i, Slot& slot) {
    slot.state = State::kClosed;
    if (!ep_.one_class()) left_.learn(counter(i), Word::closed_empty(slot.seen) + Word::kPhase);
  }
  /// Whether a slot, as it was seen, can go a step further.
  bool steps(const Slot& slot, std::uint64_t t_r) const {
    if (slot.state == State::kClosed) return false;
    if (slot.state == State::kClosing) {
      return Word::depart(slot.seen) == Word::arrive(slot.snapshot);  // one word, one read (R2)
    }
    KW_DCHECK(!Word::closed(slot.seen));  // the root's previous front has opened it
    return Word::empty(slot.seen) || (Word::arrive(slot.seen) >= t_r && Word::may_close(slot.seen));
  }

  /// Takes every step that the last reading allows.
  void advance() {
    in_batches([this](const Slot& slot) { return slot.state == State::kOpen && steps(slot, t_r_); },
               [this](std::size_t i, const Slot& slot) { return post_closing(i, slot); },
               [this](std::size_t i, Slot& slot, std::uint64_t old) {
                 if (!Word::empty(slot.seen)) {
                   slot = {.state = State::kClosing, .seen = old, .snapshot = old};
                 } else if (old == slot.seen) {
                   note_closed(i, slot);
                 }
               });
    for (Slot& slot : slots_) {
      if (slot.state == State::kClosing && steps(slot, t_r_)) slot.state = State::kClosed;
    }
  }
  fabric::Pending post_closing(std::size_t i, const Slot& slot) {
    if (!Word::empty(slot.seen)) return ep_.post_fetch_add(fabric::rma, counter(i), Word::kPhase);
    // Closed and reset in one, unless a reader has come: t_r of them may.
    return ep_.post_compare_swap(fabric::rma, counter(i), slot.seen, Word::closed_empty(slot.seen));
  }
  void post_resets() {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const std::uint64_t reset = Word::reset_of(slots_[i].snapshot);
      if (reset != 0) ep_.post_fetch_add(fabric::rma, counter(i), reset);
    }
  }
  bool all_closed() const {
    return std::all_of(slots_.begin(), slots_.end(),
                       [](const Slot& slot) { return slot.state == State::kClosed; });
  }

  /// Opens what has been closed. A counter that readers have yet to leave keeps them counted.
  void give_up() {
    in_batches(
        [](const Slot& slot) { return slot.state == State::kClosing; },
        [this](std::size_t i, const Slot&) { return ep_.post_load(fabric::rma, counter(i)); },
        [](std::size_t, Slot& slot, std::uint64_t word) { slot.seen = word; });
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const Slot& slot = slots_[i];
      if (slot.state == State::kOpen) continue;
      const std::uint64_t gone =
          slot.state == State::kClosing ? Word::depart(slot.seen) : Word::arrive(slot.snapshot);
      ep_.post_fetch_add(fabric::rma, counter(i), Word::give_up_of(slot.snapshot, gone));
    }
    flush_counters();
  }

  E& ep_;
  CounterMap& map_;
  CounterMap::Notes slots_;
  SeenVersions& left_;
  const LockSite& site_;
  std::uint64_t t_r_;
  std::uint64_t t_l1_;
  std::uint64_t looks_ = 0;
};

}  // namespace keyway::locks
