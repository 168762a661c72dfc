// LatencyEvents: commands that took longer than a threshold, second by second.
//
// *What.* Keeps for each event the maximum of each second in which it occurred, the last
// kMaxSamples of them, and the maximum of all.
// *Thread safety.* Any thread may call it. A request costs one load of the threshold.
// *Invariants.* E1: memory is bounded by kMaxSamples of each event.
// *Source.* Redis 7.0, latency.c: events `command`, and `fast-command` for what should be quick.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "keyway/locks/base/mutex.h"

namespace keyway::server {

enum class LatencyEvent : std::uint8_t { kCommand, kFastCommand };
inline constexpr std::array kLatencyEvents = {LatencyEvent::kCommand, LatencyEvent::kFastCommand};

std::string_view name_of(LatencyEvent event);
/// Nothing for what is none.
std::optional<LatencyEvent> latency_event(std::string_view name);

struct LatencySample {
  std::uint64_t unix_s = 0;
  std::uint64_t ms = 0;
};

class LatencyEvents {
 public:
  static constexpr std::size_t kMaxSamples = 160;

  struct History {
    std::deque<LatencySample> samples;  // the oldest first
    std::uint64_t worst_ms = 0;
  };

  /// Whether an event that took so long is to be kept.
  bool takes(std::uint64_t ns) const {
    // relaxed: a limit by itself.
    const std::uint64_t ms = threshold_ms_.load(std::memory_order_relaxed);
    return ms != 0 && ns >= ms * 1'000'000;
  }
  void add(LatencyEvent event, std::uint64_t unix_s, std::uint64_t ms);
  History history(LatencyEvent event) const;
  /// Whether there was anything to clear.
  bool clear(LatencyEvent event);

  // relaxed, both: a limit by itself.
  /// 0: nothing is kept.
  void set_threshold_ms(std::uint64_t ms) { threshold_ms_.store(ms, std::memory_order_relaxed); }
  std::uint64_t threshold_ms() const { return threshold_ms_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> threshold_ms_{0};
  mutable Mutex mutex_;
  std::array<History, kLatencyEvents.size()> events_ KW_GUARDED_BY(mutex_);
};

}  // namespace keyway::server
