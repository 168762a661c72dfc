// LastAnswers: when each rank has last answered an operation of this process.
//
// *Why.* An agent that waits for a lock operation of a rank that stands still cannot leave it
// half-way. So it asks first, unless the rank has just answered some agent here.
// *Thread safety.* Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "keyway/locks/base/clock.h"

namespace keyway::fabric {

/// An answer is no proof of life for longer. Under load ranks answer more often than that, and no
/// question is asked.
inline constexpr std::uint64_t kFreshNs = 1'000'000;

class LastAnswers {
 public:
  explicit LastAnswers(std::uint32_t ranks) : at_ns_(ranks) {}

  // relaxed: hints, which publish nothing.
  void note(std::uint32_t rank) { at_ns_[rank].store(steady_ns(), std::memory_order_relaxed); }
  bool is_fresh(std::uint32_t rank) const {
    return steady_ns() - at_ns_[rank].load(std::memory_order_relaxed) < kFreshNs;
  }

 private:
  std::vector<std::atomic<std::uint64_t>> at_ns_;
};

}  // namespace keyway::fabric
