// The costs of the primitives of locks on a simulated machine, from its figures; on a real machine
// they must be measured (measure_costs.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "keyway/locks/distributed/choose.h"
#include "keyway/locks/fabric/sim/machine.h"

namespace keyway::store {

/// For a job on this many nodes of an otherwise idle machine with network cards. An RMA-RW lock has
/// a counter on each node.
inline locks::PrimitiveCosts machine_costs(const fabric::sim::Machine& machine,
                                           std::uint32_t nodes) {
  const auto round_trip = [](const fabric::sim::Card& card, const fabric::sim::Path& path) {
    return card.issue_ns + 2 * path.latency_ns + card.atomic_ns;
  };
  const bool one_class = nodes == 1 && machine.semantics.one_node_is_one_class;
  return {.cpu_atomic_ns = machine.cpu.atomic_ns,
          .loopback_ns = one_class ? machine.cpu.atomic_ns
                                   : round_trip(machine.loopback_card, machine.loopback),
          .rma_atomic_ns = round_trip(machine.card, machine.machine),
          .posted_ns = std::max(machine.card.issue_ns, machine.card.atomic_ns),
          .order_ns = machine.semantics.ordered ? 0 : round_trip(machine.card, machine.machine),
          .nodes = static_cast<double>(nodes),
          .counters = static_cast<double>(nodes)};
}

}  // namespace keyway::store
