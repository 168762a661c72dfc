// The texts and files of lockcheck on an exploration.
#pragma once

#include <string>
#include <vector>

#include "keyway/locks/fabric/sim/explorer.h"
#include "options.h"

namespace keyway::lockcheck {

struct Result {
  Options options;
  fabric::sim::ExploreReport report;
  std::uint64_t took_ns = 0;
};

/// Prints one exploration; returns the exit code.
int show(const Result& result);
/// The line with which a finding of this exploration is seen again.
std::string replay_line(const Options& options, const fabric::sim::Finding& finding);
/// Writes results as JSON. Fails with a sentence.
Status write_json(const std::string& path, const std::string& command_line,
                  const std::vector<Result>& results);

}  // namespace keyway::lockcheck
