// The options of one run of lockbench, and its command line.
//
// *Thread safety.* Plain data and free functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "keyway/client/program/command_line.h"
#include "keyway/locks/base/status.h"

namespace keyway::lockbench {

/// Exit codes, for scripts.
inline constexpr int kExitCheckFailed = 1;
using program::kExitOk;
using program::kExitUnavailable;
using program::kExitUsage;

/// One run: a point of a sweep. 0 means the default of fabric or bench where a comment says so.
struct RunOptions {
  std::string lock;
  std::string bench = "ecsb";
  std::string fabric = "shm";
  std::string machine = "piz-daint";  // sim: a name or a path
  std::vector<std::string> settings;  // sim: DOTTED=VALUE overrides of the machine
  std::string topology;               // Topology::override_with
  std::uint32_t ranks = 0;            // 0: by the fabric
  std::uint32_t threads = 1;          // agents of each rank
  std::uint32_t locks = 0;            // 0: by the bench
  std::uint32_t home = 0;             // rank of the first lock
  std::uint32_t stride = 1;           // ranks from one lock's home to the next
  std::optional<double> locality;     // share of acquires of locks on the agent's own node
  std::string draws = "own";          // or "published", see lock_draw.h
  double fw = 1;                      // share of writes (roles=operation) or writers (=process)
  std::string roles = "operation";
  std::uint64_t acquires = 0;  // per agent, warm-up included; 0: by the fabric
  double seconds = 0;          // by the fabric's clock, instead of a number of acquires
  double warmup = 0.1;         // share of the acquires that is discarded
  std::uint64_t work_min_ns = 1000;
  std::uint64_t work_max_ns = 4000;
  std::uint64_t seed = 1;
  std::uint32_t sample = 1;  // measure the latency of each n-th acquire; 0: none
  bool counts = false;
  std::string check = "warm-up";
  bool force_rma = false;            // mpi
  std::uint32_t ranks_per_node = 0;  // mpi
};

struct Options {
  RunOptions run;
  std::vector<std::string> sweeps;
  std::uint32_t jobs = 0;  // points of a simulated sweep at once; 0: as many as there are cores
  std::string json;
  std::string csv;
  std::string calibrate;           // file for this host as a machine; no run then
  std::vector<std::string> words;  // the run as words, the spec file's first
};

using Parsed = program::Parsed<Options>;
Parsed parse_command_line(int argc, const char* const* argv);
/// The same for words; of an option that is given twice the later one counts.
Parsed parse_words(const std::vector<std::string>& words);
/// The shortest words that parse to `run` again.
std::vector<std::string> words_of(const RunOptions& run);
/// Long names of all options that a spec file may set, without dashes.
std::vector<std::string> option_names();

}  // namespace keyway::lockbench
