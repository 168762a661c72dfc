// Sweeps: "NAME=VALUES" texts become a grid of runs.
//
// *Thread safety.* Free functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/locks/base/status.h"
#include "options.h"

namespace keyway::lockbench {

/// One run of a grid, and the values that make it differ from the others.
struct Point {
  RunOptions run;
  std::vector<std::pair<std::string, std::string>> values;  // as swept, in the order given

  /// "P=8 F_W=0.02"
  std::string name() const;
};

/// "8,16,32,...,1024" and the like, written out. Three values before the dots that grow by one
/// factor continue by that factor; other values continue by their last step. They must reach the
/// value after the dots.
Result<std::vector<std::string>> expand_values(std::string_view text);

/// All points, the last sweep fastest. A later sweep of the same name replaces the earlier one.
/// Without sweeps: the one run.
Result<std::vector<Point>> expand_grid(const Options& options);

}  // namespace keyway::lockbench
