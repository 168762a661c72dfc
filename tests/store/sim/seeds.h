// Which seeds a simulated test runs, and what it prints when one fails.
#pragma once

#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace keyway::test {

/// Environment variable that names the one seed to run.
inline constexpr const char* kSimSeedVariable = "KEYWAY_TEST_SEED";

/// 1 .. count, or the one that the environment names.
inline std::vector<std::uint64_t> sim_seeds(std::uint64_t count) {
  if (const char* text = std::getenv(kSimSeedVariable)) return {std::strtoull(text, nullptr, 10)};
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = 1; seed <= count; ++seed) seeds.push_back(seed);
  return seeds;
}

/// The command that runs this seed of this section again.
inline std::string sim_replay(const std::string& section, std::uint64_t seed) {
  return fmt::format("replay: {}={} store_sim '{}' -c '{}'", kSimSeedVariable, seed,
                     Catch::getResultCapture().getCurrentTestName(), section);
}

}  // namespace keyway::test
