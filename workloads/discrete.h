// Draws one of a few outcomes with given weights: the operation mix.
#pragma once

#include <array>
#include <cstddef>

#include "keyway/locks/base/check.h"
#include "keyway/locks/base/rng.h"

namespace keyway::workloads {

/// N outcomes; weights need not sum to 1. Immutable, so free to share between threads.
template <std::size_t N>
class Discrete {
 public:
  /// No weight may be negative, and one must be positive.
  explicit Discrete(const std::array<double, N>& weights) {
    double sum = 0;
    for (const double weight : weights) {
      KW_CHECK(weight >= 0);
      sum += weight;
    }
    KW_CHECK(sum > 0);
    double below = 0;
    for (std::size_t i = 0; i < N; ++i) {
      below += weights[i];
      below_[i] = below / sum;
      if (weights[i] > 0) last_ = i;
    }
  }

  std::size_t next(Rng& rng) const {
    const double u = rng.unit();
    for (std::size_t i = 0; i < last_; ++i) {
      if (u < below_[i]) return i;
    }
    return last_;  // rounding must not fall through to an outcome of weight 0
  }

 private:
  std::array<double, N> below_{};
  std::size_t last_ = 0;
};

}  // namespace keyway::workloads
