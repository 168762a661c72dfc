// A simulated machine for tests: small nodes, and a network that mixes up what it carries.
#pragma once

#include <cstdint>

#include "keyway/locks/fabric/sim/machine.h"

namespace keyway::test {

/// Nodes of `ranks_per_node`, so that both access classes are used. An operation is delayed by
/// `jitter_ns` on average, and by up to twenty times that: exponential, so that a posted operation
/// may happen after several blocking ones that were issued later. The cards' service times are
/// random, too. The figures are round, the jitter is large beside them, and no check depends on
/// them.
inline fabric::sim::Machine shaken_machine(std::uint32_t ranks_per_node, double jitter_ns) {
  fabric::sim::Machine made;
  made.name = "shaken";
  made.shape.ranks_per_node = ranks_per_node;
  made.machine = {.latency_ns = 300, .ns_per_byte = 0.1};
  made.rack = made.machine;
  made.loopback = {.latency_ns = 100, .ns_per_byte = 0.1};
  made.card = {.issue_ns = 40, .atomic_ns = 200, .read_ns = 60, .write_ns = 50};
  made.loopback_card = made.card;
  made.jitter = {.max_ns = 20 * jitter_ns, .mean_ns = jitter_ns};
  made.semantics.random_service = true;
  made.cpu = {.load_ns = 20, .store_ns = 20, .atomic_ns = 40, .ns_per_byte = 0.1, .poll_ns = 70};
  return made;
}

}  // namespace keyway::test
