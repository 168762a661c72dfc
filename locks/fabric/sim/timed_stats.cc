#include "keyway/locks/fabric/sim/timed_stats.h"

namespace keyway::fabric::sim {

void OperationCounts::add(const Operation& op) {
  switch (op.kind) {
    case OpKind::kLoad: ++loads; return;
    case OpKind::kStore: ++stores; return;
    case OpKind::kRead: ++reads; break;
    case OpKind::kWrite: ++writes; break;
    default: ++atomics; return;
  }
  bytes += op.bytes;
}

std::uint64_t TimedStats::operations() const {
  std::uint64_t sum = cpu.operations();
  for (const Level& level : rma) sum += level.counts.operations();
  return sum;
}

}  // namespace keyway::fabric::sim
