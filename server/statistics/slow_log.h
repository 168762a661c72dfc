// SlowLog: requests that took long, the newest first, and where their time went.
//
// *Thread safety.* Any thread may call it. A request that is not slow costs one load of the
// threshold.
// *Invariants.* L1: ids grow with time, and are not used again after a reset. L2: memory is bounded
// by the most entries, each of at most kMaxWords words, and a name, of kMaxWordBytes.
// *Source.* Redis 7.0, slowlog.c, for the parts of a request that are kept. The split of the time
// is ours.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/base/mutex.h"

namespace keyway::server {

/// The parts of one request's time, in ns.
struct RequestTimes {
  std::uint64_t queue = 0;      // from its arrival to its start: behind others
  std::uint64_t lock_wait = 0;  // while others held what it needed
  std::uint64_t network = 0;    // while other ranks answered
  std::uint64_t all = 0;        // from begin to end, with lock_wait and network

  std::uint64_t execution() const { return all - std::min(all, lock_wait + network); }
};

struct SlowRequest {
  std::uint64_t id = 0;
  std::uint64_t unix_s = 0;
  RequestTimes times;
  std::vector<std::string> words;  // cut, as Redis does
  std::string address;
  std::string name;  // cut as a word is
};

class SlowLog {
 public:
  static constexpr std::size_t kMaxWords = 32;
  static constexpr std::size_t kMaxWordBytes = 128;
  static constexpr std::int64_t kDefaultThresholdUs = 10'000;
  static constexpr std::uint64_t kDefaultMaxEntries = 128;

  /// Whether a request that took so long is to be kept.
  bool takes(std::uint64_t ns) const {
    // relaxed: a limit by itself.
    const std::int64_t us = threshold_us_.load(std::memory_order_relaxed);
    return us >= 0 && ns / 1000 >= static_cast<std::uint64_t>(us);
  }
  void add(const RequestTimes& times, std::span<const std::string_view> words,
           std::string_view address, std::string_view name);

  /// The newest first, at most this many.
  std::vector<SlowRequest> newest(std::size_t most) const;
  std::size_t size() const;
  void clear();

  // relaxed, all four: limits by themselves.
  /// Below 0: nothing is kept.
  void set_threshold_us(std::int64_t us) { threshold_us_.store(us, std::memory_order_relaxed); }
  std::int64_t threshold_us() const { return threshold_us_.load(std::memory_order_relaxed); }
  void set_most_entries(std::uint64_t most) { most_.store(most, std::memory_order_relaxed); }
  std::uint64_t most_entries() const { return most_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> threshold_us_{kDefaultThresholdUs};
  std::atomic<std::uint64_t> most_{kDefaultMaxEntries};
  mutable Mutex mutex_;
  std::deque<SlowRequest> entries_ KW_GUARDED_BY(mutex_);  // the newest first
  std::uint64_t next_id_ KW_GUARDED_BY(mutex_) = 0;
};

}  // namespace keyway::server
