// Spread: the times of many short batches of one measurement.
//
// Others may run on the host while it is measured, and they only ever make a batch slower: so the
// lower quartile is the result, and the fastest batch and the median show its uncertainty.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "keyway/locks/base/check.h"

namespace keyway::calibrate {

struct Spread {
  double least = 0;
  double typical = 0;  // the lower quartile
  double most = 0;     // the median

  static Spread of(std::vector<double> batches) {
    KW_CHECK(!batches.empty());
    std::sort(batches.begin(), batches.end());
    const std::size_t n = batches.size();
    return {batches.front(), batches[n / 4], batches[n / 2]};
  }
  /// Each figure changed by f, which must not turn their order around.
  template <class F>
  Spread map(F f) const {
    return {f(least), f(typical), f(most)};
  }
};

}  // namespace keyway::calibrate
