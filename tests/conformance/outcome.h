// The result of a conformance check, and its parameters.
//
// A check returns an Outcome instead of asserting, so that the mutants' test can ask that a
// check *fails*. Inside a check an agent reports by throwing Broken, which run_check() turns into
// the Outcome.
#pragma once

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "keyway/locks/base/sanitizers.h"

namespace keyway::conformance {

/// The failure, in a sentence that begins with the invariant; nothing if the check passed.
using Outcome = std::optional<std::string>;

/// Environment variable that replaces the seed of every check.
inline constexpr const char* kSeedVariable = "KEYWAY_TEST_SEED";

#if defined(KW_TSAN) || defined(KW_ASAN)
inline constexpr std::uint32_t kRounds = 60;
#else
inline constexpr std::uint32_t kRounds = 400;
#endif

inline std::uint64_t seed_from_environment() {
  const char* text = std::getenv(kSeedVariable);
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

/// This many seeds, unless the environment names the one to run.
inline std::uint64_t seeds_or_one(std::uint64_t seeds) {
  return std::getenv(kSeedVariable) == nullptr ? seeds : 1;
}

struct Setting {
  std::uint64_t seed = seed_from_environment();
  std::uint64_t seeds = 1;                     // run_checks() runs this many, from `seed` on
  std::uint32_t rounds = kRounds;              // visits of each agent in a stress loop
  std::chrono::milliseconds patience{60'000};  // a wait that lasts longer is reported as stuck; no
                                               // check passes or fails by being quick
};

/// An agent saw an invariant broken.
class Broken : public std::exception {
 public:
  explicit Broken(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// An agent stops because another one has reported.
class GaveUp : public std::exception {};

}  // namespace keyway::conformance
