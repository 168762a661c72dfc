// The command line of kvload.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "keyway/client/program/command_line.h"
#include "keyway/workloads/properties.h"

namespace keyway::kvload {

/// Exit codes, for scripts.
inline constexpr int kExitFailedOperations = 1;
inline constexpr int kExitGaveUp = 4;         // every operation failed for --give-up-after
inline constexpr int kExitInterrupted = 130;  // by SIGINT or SIGTERM, with a report
using program::kExitOk;
using program::kExitUnavailable;
using program::kExitUsage;

enum class Command { kLoad, kRun };

struct Options {
  Command command = Command::kRun;
  std::string store = "local:";
  workloads::Properties properties;    // files, -p and the options that set properties
  std::vector<double> write_percents;  // --fw; empty: no sweep
  std::optional<double> locality;
  bool warms_up = false;           // --warm-up
  std::uint32_t batch = 1;         // keys of one batched get
  std::uint32_t sample_every = 1;  // measure the latency of each n-th operation; 0: none
  std::uint64_t seed = 1;
  std::uint64_t pregenerate_mib = 512;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint32_t> load_threads;  // per rank, for the load that run does first
  std::string lock_policy;                    // for local: and mpi:; empty: as in the URI
  std::string path;                           // the same
  // Long enough for a server to be started again; on top of it, a connection to a server that has
  // gone waits for its timeout (client/wire/options.h: 10 s).
  std::uint64_t give_up_after_s = 10;
  std::string json;
  std::string csv;
  std::string summary;
  std::vector<std::string> command_line;
};

using Parsed = program::Parsed<Options>;
Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace keyway::kvload
