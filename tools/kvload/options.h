// The command line of kvload.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "keyway/workloads/properties.h"

namespace keyway::kvload {

/// Exit codes, for scripts.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailedOperations = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitUnavailable = 3;

enum class Command { kLoad, kRun };

struct Options {
  Command command = Command::kRun;
  std::string store = "local:";
  workloads::Properties properties;    // files, -p and the options that stand for properties
  std::vector<double> write_percents;  // --fw; empty: no sweep
  std::optional<double> locality;
  std::uint32_t batch = 1;         // keys of one batched get
  std::uint32_t sample_every = 1;  // take the latency of each n-th operation; 0: of none
  std::uint64_t seed = 1;
  std::uint64_t pregenerate_mib = 512;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint32_t> load_threads;  // of each rank, where run loads first
  std::string lock_policy;                    // of local: and mpi:; empty: what the URI says
  std::string json;
  std::string csv;
  std::vector<std::string> command_line;
};

/// What to do after reading the command line: go on with `options`, or print and exit.
struct Parsed {
  std::optional<Options> options;
  int exit_code = kExitOk;
  std::string out;    // for stdout
  std::string error;  // for stderr, one sentence
};

Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace keyway::kvload
