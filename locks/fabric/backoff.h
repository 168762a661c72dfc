// Exponential back-off between attempts, as the SCC paper uses for GBH (section 6).
#pragma once

#include <algorithm>
#include <cstdint>

#include "keyway/locks/base/rng.h"

namespace keyway::fabric {

/// Bounds of the wait between attempts. With max_ns 0 there is no back-off: the endpoint only
/// yields. Value type.
struct Backoff {
  std::uint64_t min_ns = 0;
  std::uint64_t max_ns = 0;

  static constexpr Backoff none() { return {0, 0}; }
};

/// One wait's progress through a Backoff: doubling spans within the bounds, each drawn from its
/// upper half so that agents that collided once do not collide again in step.
class BackoffSteps {
 public:
  BackoffSteps(const Backoff& bounds, std::uint64_t seed)
      : bounds_(bounds), span_ns_(bounds.min_ns), rng_(seed) {
    span_ns_ = doubled();
  }

  /// The next span to wait, in ns; 0 means yield once.
  std::uint64_t next_ns() {
    if (bounds_.max_ns == 0) return 0;
    const std::uint64_t span = span_ns_;
    span_ns_ = doubled();
    const std::uint64_t least = std::min(span, std::max(span / 2, bounds_.min_ns));
    return least + rng_.below(span - least + 1);
  }

 private:
  std::uint64_t doubled() const {
    if (span_ns_ > bounds_.max_ns / 2) return bounds_.max_ns;
    return std::max<std::uint64_t>(2 * span_ns_, 1);
  }

  Backoff bounds_;
  std::uint64_t span_ns_;
  Rng rng_;
};

}  // namespace keyway::fabric
