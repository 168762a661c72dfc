// A small multicore node, with costs that are easy to distinguish in a sum.
#pragma once

#include "keyway/locks/fabric/sim/multicore.h"

namespace keyway::test {

/// 2 sockets of 2 NUMA nodes of 2 cores of 2 threads. Thread 0 has its sibling at 1, its NUMA node
/// up to 3, its socket up to 7, the other socket up to 15.
inline fabric::sim::MulticoreShape small_shape() {
  return {.sockets = 2, .numa_per_socket = 2, .cores_per_numa = 2, .threads_per_core = 2};
}

inline fabric::sim::CacheCosts small_costs() {
  return {.load_ns = 1,
          .store_ns = 2,
          .atomic_ns = 5,
          .transfer_ns = {0, 10, 40, 60, 100},
          .memory_ns = {80, 90, 140},
          .invalidate_each_ns = 3,
          .load_busy_ns = 7};
}

/// The same shape and costs, and a scheduler with costs.
inline fabric::sim::Multicore small_node() {
  fabric::sim::Multicore node;
  node.shape = small_shape();
  node.cache = small_costs();
  node.core = {.switch_ns = 1000, .yield_ns = 300, .quantum_ns = 50'000, .wake_ns = 4000};
  node.wait = {.look_ns = 20, .spin_ns = 2000, .retry_ns = 400, .signal_ns = 600};
  return node;
}

}  // namespace keyway::test
