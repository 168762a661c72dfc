// Zipfian numbers, as YCSB draws them.
//
// Source: Gray et al., "Quickly Generating Billion-Record Synthetic Databases",
// SIGMOD 1994. The two most popular items have their exact Zipf probability, the
// rest that of a continuous approximation. Deviation from YCSB: zeta is summed by
// Euler-Maclaurin beyond its first terms, so that 10^10 items cost microseconds.
#pragma once

#include <cstdint>

#include "keyway/locks/base/rng.h"

namespace keyway::workloads {

/// The sum of 1 / i^theta for i from 1 to n, to about 12 digits. 0 < theta < 1.
double zeta(std::uint64_t n, double theta);

/// Draws from [0, items); 0 is the most popular. Not thread-safe: one per thread.
class Zipfian {
 public:
  /// items > 0, 0 < theta < 1; both are for the caller to check.
  Zipfian(std::uint64_t items, double theta) : Zipfian(items, theta, zeta(items, theta)) {}
  /// With a known zeta(items, theta).
  Zipfian(std::uint64_t items, double theta, double zetan);

  std::uint64_t next(Rng& rng) const;
  /// Draws from [0, items) after the set has grown to `items`; growing by few is cheap.
  std::uint64_t next(Rng& rng, std::uint64_t items) {
    if (items > items_) grow(items);
    return next(rng);
  }
  std::uint64_t items() const { return items_; }

 private:
  void grow(std::uint64_t items);
  void set_eta();

  std::uint64_t items_;
  double theta_;
  double zetan_;
  double alpha_;
  double half_power_;  // 0.5^theta
  double eta_ = 0;
};

}  // namespace keyway::workloads
