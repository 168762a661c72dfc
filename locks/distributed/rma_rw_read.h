// CounterReader: the operations of a reader on its own counter of an RMA-RW lock.
//
// *What.* Arrive, wait if necessary, leave. One agent at one counter; rma_rw.h describes the
// protocol and the invariants, rma_rw_counter.h the word.
// *Thread safety.* Belongs to its agent.
// *Source.* HPDC'16 Listings 9 and 10; rma_rw.h lists the deviations.
#pragma once

#include <cstdint>

#include "keyway/locks/fabric/endpoint.h"

namespace keyway::locks {

template <class Word, fabric::Endpoint E>
class CounterReader {
 public:
  /// `root`: the tail of the writers' queue at the root.
  CounterReader(E& ep, fabric::Address counter, fabric::Address root, std::uint64_t t_r)
      : ep_(ep), counter_(counter), root_(root), t_r_(t_r) {}

  /// One atomic. Its result is the argument of the other functions.
  std::uint64_t arrive() { return ep_.fetch_add(fabric::rma, counter_, Word::kArrive); }
  /// Whether a reader that arrived at `old` is inside at once.
  bool admits(std::uint64_t old) const { return !Word::closed(old) && Word::arrive(old) < t_r_; }
  void leave() { ep_.fetch_add(fabric::rma, counter_, Word::kDepart); }

  /// Waits until inside; false if the deadline passed first, after the arrival has been withdrawn.
  bool wait(std::uint64_t old, Deadline deadline) {
    const bool entered = Word::closed(old) ? wait_for_opening(old, deadline)
                                           : ep_.retry_until([this] { return passes_gate(); },
                                                             fabric::Backoff::none(), deadline);
    return entered || !withdraw(old);
  }
  /// Whether wait() has had to do so.
  bool waited() const { return looks_ != 1; }
  /// wait() with one poll.
  bool try_wait(std::uint64_t old) {
    if (!Word::closed(old) && passes_gate()) return true;
    return !withdraw(old);
  }

 private:
  bool wait_for_opening(std::uint64_t old, Deadline deadline) {
    const auto opened = [phase = Word::phase(old)](std::uint64_t w) {
      return Word::phase(w) != phase;  // not "is even": the next writer may have come (R7)
    };
    const auto waited =
        counter_.rank() == ep_.rank()
            ? ep_.wait_until(counter_, opened, deadline)
            : ep_.wait_until_remote(counter_, opened, fabric::Backoff::none(), deadline);
    return !waited.expired;
  }

  /// One poll of a reader that is t_r-th or later in an open counter: whether it may enter.
  bool passes_gate() {
    ++looks_;
    const std::uint64_t word = ep_.load(fabric::rma, counter_);
    // Closed: by a writer that counts us as inside, and waits for us.
    if (Word::closed(word) || Word::arrive(word) < t_r_) return true;
    // Read again each time: the writer that made us wait may have left without closing (R4, R6).
    const bool writer_waits = ep_.load(fabric::rma, root_) != 0;
    if (writer_waits && Word::may_close(word)) return false;
    // We are counted as inside and delay no writer, so we enter (R6). The reset serves later
    // readers, and each of them tries again: it fails if anything has changed, in particular if a
    // writer has closed (R3, R5).
    ep_.compare_swap(fabric::rma, counter_, word, Word::trimmed(word));
    return true;
  }

  /// Withdraws the arrival, which no writer has counted as long as the phase is unchanged. False if
  /// it has changed: then we are inside.
  bool withdraw(std::uint64_t old) {
    std::uint64_t word = old + Word::kArrive;
    while (Word::phase(word) == Word::phase(old)) {
      const std::uint64_t found =
          ep_.compare_swap(fabric::rma, counter_, word, word - Word::kArrive);
      if (found == word) return true;
      word = found;
    }
    return false;
  }

  E& ep_;
  fabric::Address counter_;
  fabric::Address root_;
  std::uint64_t t_r_;
  std::uint64_t looks_ = 0;  // at the gate
};

}  // namespace keyway::locks
