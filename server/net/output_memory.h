// OutputMemory: how much the replies of all connections may take that wait for their clients.
//
// *What.* A connection reports what it keeps beyond its first part, and asks before it makes more.
// It may keep as much as is left. So one client that reads only after all is sent has half of the
// memory at most, and there is room for the next. A long reply claims its memory while it is made.
// *Thread safety.* Any thread.
// *Invariants.* O1: the reported bytes are at most the limit, and one part of each connection above
// it.
// *Source.* Choudhury and Hahne, Dynamic queue length thresholds for shared-memory packet switches,
// 1998, with a factor of 1.
#pragma once

#include <atomic>
#include <cstdint>

namespace keyway::server {

class OutputMemory {
 public:
  explicit OutputMemory(std::uint64_t limit) : limit_(limit) {}

  /// A connection that kept `before` bytes now keeps `now`.
  void report(std::uint64_t before, std::uint64_t now) {
    // relaxed: a figure, which orders nothing. It wraps, and comes out right.
    used_.fetch_add(now - before, std::memory_order_relaxed);
  }
  std::uint64_t limit() const { return limit_; }
  /// As report(), for a connection that wants to keep more. False, and nothing is recorded, if that
  /// exceeds the limit.
  bool claim(std::uint64_t before, std::uint64_t now) {
    const std::uint64_t more = now - before;
    std::uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (used > limit_ || more > limit_ - used) return false;
      // relaxed, both: as in report().
    } while (!used_.compare_exchange_weak(used, used + more, std::memory_order_relaxed,
                                          std::memory_order_relaxed));
    return true;
  }
  /// Whether a connection that keeps this many bytes may add to them.
  bool has_room(std::uint64_t kept) const {
    const std::uint64_t used = used_.load(std::memory_order_relaxed);
    return used < limit_ && kept <= limit_ - used;
  }

 private:
  std::uint64_t limit_;
  std::atomic<std::uint64_t> used_{0};
};

}  // namespace keyway::server
