// lockcheck's command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "keyway/locks/base/status.h"
#include "keyway/locks/fabric/sim/explorer.h"
#include "keyway/tools/lockcheck/lock_shape.h"
#include "keyway/tools/lockcheck/mutant.h"

namespace keyway::lockcheck {

enum class How : std::uint8_t { kExhaustive, kPreemptions, kRandom, kPct };

struct Options {
  std::string lock;
  const Mutant* mutant = nullptr;
  bool real = false;  // not the mutant, but the kind that it is made from, in the mutant's shape
  bool all_mutants = false;
  LockShape shape;
  How how = How::kExhaustive;
  std::string explore = "exhaustive";
  std::uint32_t bound = 2;
  std::uint32_t depth = 3;
  std::uint64_t seed = 1;
  std::uint64_t executions = 100'000;
  std::uint64_t most_states = 20'000'000;
  std::string replay;
  std::string json;
  fabric::sim::ExploreOptions explorer{.most_counted = 1'000'000};
  std::string command_line;

  /// "lockcheck --lock d-mcs --agents 3w ...": the options that explore the same program again.
  std::string program_flags() const;
  /// The flags that make the same orders again.
  std::string order_flags() const;
};

/// The options, or the exit code of a call that ends with the command line.
struct Parsed {
  std::optional<Options> options;
  int exit_code = 0;
};
Parsed parse(int argc, char** argv);

inline constexpr int kExitViolation = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitIncomplete = 3;

}  // namespace keyway::lockcheck
