// Numbers for inserted records, and which of them may be read.
//
// *What*. take() hands out 0, 1, 2, ... in order. A number becomes readable when it and all before
// it have been acknowledged, so that no operation reads a key while its insert is in flight.
// *Thread safety*. All members may be called by any thread.
// *Invariants*. I1: readable() <= taken. I2: taken - readable() <= kWindow, so a
// slot of the window belongs to one number at a time. I3: readable() never falls.
// *Source*. YCSB's AcknowledgedCounterGenerator. Deviation: if an insert lags by more than the
// window, YCSB's throws; take() answers "not now".
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "keyway/locks/base/check.h"

namespace keyway::workloads {

class InsertCounter {
 public:
  static constexpr std::uint64_t kWindow = std::uint64_t{1} << 20;

  InsertCounter() : acknowledged_(std::make_unique<std::atomic<bool>[]>(kWindow)) {}

  /// The next number, or nothing while the oldest insert in flight is kWindow behind.
  std::optional<std::uint64_t> take() {
    std::uint64_t number = next_.load(std::memory_order_relaxed);
    do {
      // acquire: pairs with the release in acknowledge(), so the slot is seen cleared.
      if (number >= readable_.load(std::memory_order_acquire) + kWindow) return std::nullopt;
    } while (!next_.compare_exchange_weak(number, number + 1, std::memory_order_relaxed));
    return number;
  }

  /// Says that the insert of `number`, which take() gave out, is done.
  void acknowledge(std::uint64_t number) {
    // seq_cst here and on the flag below: if two threads acknowledge at once, the one that finds
    // the flag taken must have its slot seen by the last check of the other.
    const bool again = acknowledged_[number % kWindow].exchange(true, std::memory_order_seq_cst);
    KW_CHECK(!again);  // I2
    while (acknowledged_[readable_.load(std::memory_order_seq_cst) % kWindow].load(
        std::memory_order_seq_cst)) {
      if (advancing_.exchange(true, std::memory_order_seq_cst)) return;
      advance();
      advancing_.store(false, std::memory_order_seq_cst);
    }
  }

  /// How many numbers, from 0 on, may be read.
  std::uint64_t readable() const {
    // acquire: makes stores before the acknowledgement visible to the reader.
    return readable_.load(std::memory_order_acquire);
  }

 private:
  void advance() {
    std::uint64_t next = readable_.load(std::memory_order_relaxed);
    while (acknowledged_[next % kWindow].load(std::memory_order_acquire)) {
      acknowledged_[next % kWindow].store(false, std::memory_order_relaxed);
      // seq_cst, hence release: publishes the cleared slot to take() and the insert to readers.
      readable_.store(++next, std::memory_order_seq_cst);
    }
  }

  std::unique_ptr<std::atomic<bool>[]> acknowledged_;
  alignas(64) std::atomic<std::uint64_t> next_{0};
  alignas(64) std::atomic<std::uint64_t> readable_{0};
  std::atomic<bool> advancing_{false};  // one thread at a time moves readable_
};

}  // namespace keyway::workloads
