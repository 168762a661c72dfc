// Plan: one run with every number known, whatever was left to defaults.
//
// *Thread safety.* Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "keyway/locks/base/status.h"
#include "options.h"

namespace keyway::lockbench {

struct Plan {
  RunOptions options;
  std::uint32_t ranks = 1;
  std::uint32_t threads = 1;  // agents of each rank
  std::uint32_t locks = 1;
  std::uint64_t warm_up = 1;   // acquires of each agent that are discarded, and checked
  std::uint64_t measured = 0;  // acquires of each agent after them; 0: until options.seconds
  bool check_every = false;    // check the measured acquires as well
  std::vector<std::string> warnings;

  std::uint32_t agents() const { return ranks * threads; }
  std::uint64_t agent_seed(std::uint32_t agent) const;
};

/// Fills in what was left to defaults and refuses what contradicts itself. `ranks`: of the fabric.
Result<Plan> make_plan(const RunOptions& options, std::uint32_t ranks);

/// Acquires of each agent unless --acquires says otherwise.
inline constexpr std::uint64_t kAcquiresOnRealFabrics = 100'000;  // as HPDC'16
inline constexpr std::uint64_t kAcquiresInSimulation = 125;

}  // namespace keyway::lockbench
