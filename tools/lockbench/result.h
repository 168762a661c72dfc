// Result: the measurements of one run, of all agents together.
//
// *Thread safety.* Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check.h"
#include "keyway/locks/base/topology.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/fabric/sim/machine_file.h"
#include "measured.h"
#include "plan.h"

namespace keyway::lockbench {

/// Additional results of a simulated run.
struct Simulation {
  std::string machine_text;
  std::vector<fabric::sim::MachineParameter> parameters;  // --set applied
  double virtual_ns = 0;
  std::uint64_t events = 0;
  std::uint64_t operations = 0;
  // Times of this host, so different from run to run:
  double host_s = 0;
  double processor_s = 0;  // time of the one thread that simulates
};

struct RunResult {
  Plan plan;
  std::string topology;             // in words
  std::vector<std::string> levels;  // names by level, then "self"
  std::uint64_t exclusive = 0;      // measured grants
  std::uint64_t shared = 0;
  double seconds = 0;  // from the first begin to the last end of the measured parts
  Latencies latencies;
  std::optional<double> jain;           // over the agents' grants until the first agent had ended
  std::optional<std::uint64_t> bypass;  // longest
  locks::LockStats stats;
  fabric::OpCounts counts;  // no levels when not counted
  Check check;
  std::optional<Simulation> simulation;

  std::uint64_t acquires() const { return exclusive + shared; }
  double throughput_per_s() const {
    return seconds > 0 ? static_cast<double>(acquires()) / seconds : 0;
  }
};

/// Whether the agents' clocks can be compared: then times and orders of all of them can.
enum class Clocks { kShared, kApart };

/// Puts together what agents have measured. With clocks apart the caller sets `seconds`.
RunResult combine(const Plan& plan, const Topology& topology, Team team,
                  const std::vector<std::uint64_t>& counters, std::vector<std::uint64_t> volume,
                  Clocks clocks);

}  // namespace keyway::lockbench
