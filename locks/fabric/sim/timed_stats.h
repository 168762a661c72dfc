// TimedStats: counts of the simulated operations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "keyway/locks/fabric/sim/operation.h"
#include "keyway/locks/fabric/sim/virtual_time.h"

namespace keyway::fabric::sim {

/// Operations by what they do.
struct OperationCounts {
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  std::uint64_t atomics = 0;
  std::uint64_t reads = 0;   // bulk
  std::uint64_t writes = 0;  // bulk
  std::uint64_t bytes = 0;   // bytes of the bulk operations

  std::uint64_t operations() const { return loads + stores + atomics + reads + writes; }
  void add(const Operation& op);
};

struct TimedStats {
  struct Level {
    std::string name;  // "machine", "rack", "node", "self"
    OperationCounts counts;
  };

  std::uint64_t events = 0;
  std::uint64_t served = 0;             // by target cards
  Picos waited = 0;                     // in front of target cards, in all
  std::uint64_t queue_pair_misses = 0;  // at either end
  OperationCounts cpu;
  /// For the rma class, by the finest level that origin and target share, coarsest first; the last
  /// is a rank with itself.
  std::vector<Level> rma;

  std::uint64_t operations() const;
  double waited_ns() const { return ns_of(waited); }
};

}  // namespace keyway::fabric::sim
