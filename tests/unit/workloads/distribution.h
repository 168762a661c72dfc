// Is a sample drawn from a law? Pearson's chi-square as a number of standard deviations.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace keyway::test {

/// Seeds are fixed, so a right generator passes always; a wrong one is far beyond this.
constexpr double kTooFar = 4.5;

/// How far `counts` are from n draws of `law`, in standard deviations (Wilson and Hilferty's
/// approximation of chi-square). Neighbouring cells are pooled until each expects at least 10.
/// Infinite when a cell that the law excludes was hit.
inline double distance(const std::vector<std::uint64_t>& counts, const std::vector<double>& law) {
  double n = 0;
  for (const auto count : counts) n += static_cast<double>(count);
  double statistic = 0;
  double cells = 0;
  double expected = 0;
  double observed = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (law[i] <= 0 && counts[i] > 0) return std::numeric_limits<double>::infinity();
    expected += n * law[i];
    observed += static_cast<double>(counts[i]);
    if (expected >= 10) {
      statistic += (observed - expected) * (observed - expected) / expected;
      ++cells;
      expected = observed = 0;
    }
  }
  if (expected > 0) statistic += (observed - expected) * (observed - expected) / expected, ++cells;
  const double freedom = cells - 1;
  if (freedom <= 0) return statistic;
  const double spread = 2 / (9 * freedom);
  return (std::cbrt(statistic / freedom) - (1 - spread)) / std::sqrt(spread);
}

/// Counts `draws` results of `draw` that lie in [0, cells); others make a last cell.
template <class Draw>
std::vector<std::uint64_t> tally(std::size_t cells, std::uint64_t draws, Draw&& draw) {
  std::vector<std::uint64_t> counts(cells + 1);
  for (std::uint64_t i = 0; i < draws; ++i) {
    const std::uint64_t value = draw();
    ++counts[value < cells ? value : cells];
  }
  return counts;
}

/// `law` with a last cell for what must not happen.
inline std::vector<double> closed(std::vector<double> law) {
  law.push_back(0);
  return law;
}

}  // namespace keyway::test
