// PolicyRun: one run of the store on a simulated machine, under a fixed lock kind or lock=auto.
//
// *What.* An agent at every rank gets and puts keys of 16 B with values of 100 B, without pause. A
// workload has parts, each with its own stripes on every rank. A visit goes to one of them, reads
// or writes, and is to the agent's own node or to another one. After a warm-up, in which lock=auto
// learns, all agents start together, and the run measures the time of a given number of visits. The
// store is the real one (kvstore/sim): its sessions sample, review and switch as on any fabric,
// with the policy of lock=auto and the costs of the machine's file.
// *Thread safety.* None: one thread simulates. A plan and a seed are a run, to the bit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "keyway/locks/base/status.h"
#include "keyway/locks/fabric/sim/machine.h"

namespace keyway::policy {

/// The visits to some of the stripes.
struct Part {
  double visits = 1;  // share of all visits
  double reads = 1;   // share of these
  double local = 1;   // share of these by agents of the owner's node
};

struct Plan {
  fabric::sim::Machine machine;
  std::uint32_t nodes = 16;
  std::uint32_t stripes = 4;  // per rank, divided evenly among the parts
  std::vector<Part> parts = {{}};
  std::string lock = "auto";
  std::uint64_t warm_up = 6'000;    // visits of each agent
  std::uint64_t measured = 50'000;  // visits of all
  std::uint64_t seed = 1;
};

/// How many stripes of a part have which kind at the end.
struct KindCount {
  std::uint32_t part = 0;
  std::string kind;
  std::uint64_t stripes = 0;
};

struct Outcome {
  double throughput_per_s = 0;  // throughput of the measured visits, in virtual time
  std::uint64_t switches = 0;
  std::uint64_t learned = 0;        // visits of all until the last switch of the warm-up
  double learned_ns = 0;            // and the time
  std::uint64_t late_switches = 0;  // while it was measured
  std::vector<KindCount> kinds;
};

/// Fails when the plan is out of bounds, an operation of the store fails, or an element is wrong.
Result<Outcome> run(const Plan& plan);

}  // namespace keyway::policy
