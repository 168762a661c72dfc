// A simulated machine for tests that count round trips.
#pragma once

#include "keyway/locks/fabric/sim/machine.h"

namespace keyway::test {

/// A machine on which only a message between two nodes takes time; a node is a rank.
inline fabric::sim::Machine slow_network(double latency_ns = 1'000'000) {
  fabric::sim::Machine made;
  made.name = "slow network";
  made.shape.ranks_per_node = 1;
  made.machine = {.latency_ns = latency_ns};
  made.rack = made.machine;
  return made;
}

}  // namespace keyway::test
