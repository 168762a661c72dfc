// Counter: a number that one thread adds to and any may read.
//
// *Thread safety.* add() and set() belong to one thread. Any thread may call value(), which shows a
// recent moment.
// *Invariants.* N1: an addition is a load and a store, no read-modify-write: no thread waits for a
// cache line that others write.
#pragma once

#include <atomic>
#include <cstdint>

namespace keyway::server {

class Counter {
 public:
  // Relaxed: figures for people; nothing is published through them.
  void add(std::uint64_t amount) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  /// For values that also decrease.
  void subtract(std::uint64_t amount) { add(std::uint64_t{0} - amount); }
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace keyway::server
