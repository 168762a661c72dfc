// The probabilities that Gray's algorithm gives, worked out from its formula and not by it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/unit/workloads/distribution.h"

namespace keyway::test {

inline double summed_zeta(std::uint64_t n, double theta) {
  double sum = 0;
  for (std::uint64_t i = n; i > 0; --i) sum += std::pow(static_cast<double>(i), -theta);
  return sum;
}

/// The chance that a draw is below `item`. The algorithm answers 0 and 1 exactly, and otherwise
/// floor(n * (eta u - eta + 1)^(1 / (1 - theta))), which is below `item` while u is below u(item).
inline double gray_below(double item, double n, double theta, double zetan) {
  const double head = (1 + std::pow(0.5, theta)) / zetan;
  if (item <= 0) return 0;
  if (item <= 1) return std::min(1.0, 1 / zetan);
  if (item >= n) return 1;
  const double eta = (1 - std::pow(2 / n, 1 - theta)) / (1 - head);
  const double u = (std::pow(item / n, 1 - theta) - 1 + eta) / eta;
  return std::clamp(std::max(u, head), 0.0, 1.0);
}

inline std::vector<double> gray_law(std::uint64_t items, double theta) {
  const double zetan = summed_zeta(items, theta);
  const auto n = static_cast<double>(items);
  std::vector<double> law(items);
  for (std::uint64_t i = 0; i < items; ++i) {
    law[i] = gray_below(static_cast<double>(i + 1), n, theta, zetan) -
             gray_below(static_cast<double>(i), n, theta, zetan);
  }
  return law;
}

}  // namespace keyway::test
