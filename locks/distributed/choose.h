// choose(): selects the cheapest lock kind for a workload, by a model over the costs of the
// primitives.
//
// *What.* A kind is described by its footprint (footprint.h). A workload is a share of reads, a
// share of acquisitions by agents of the owner's node, and the average number of contenders: the
// other agents that an agent finds at the lock. The cost of an acquisition is
//   uncontended  +  contenders in conflict * (their hold + a hand-over)
// averaged over the workload. Two readers are in conflict if the kind does not let them share; a
// hold includes the time in which a writer keeps the readers out. The model has no thresholds: the
// choice follows from the costs alone.
// *Thread safety.* Pure functions.
// *Limits.* The model ignores queues at a network card, placement below the node, T_R and budgets.
// It orders kinds; it does not predict times.
// *Source.* Design section 6. Counts: each kind's header.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/base/status.h"
#include "keyway/locks/distributed/footprint.h"

namespace keyway::locks {

/// Costs of the primitives on a machine, in ns, uncontended and completed.
struct PrimitiveCosts {
  double cpu_atomic_ns = 20;
  double loopback_ns = 20;    // an atomic of class `rma` on a word of the agent's own node
  double rma_atomic_ns = 20;  // on a word of another node, a round trip
  double posted_ns = 5;       // one more posted atomic in a round trip that is made anyway
  double order_ns = 0;        // to keep two operations posted to another node in order
  double nodes = 1;
  double counters = 1;  // physical counters of an RMA-RW lock
};

struct Workload {
  double reads = 0.95;    // share of acquisitions that read
  double local = 1;       // share of acquisitions from the owner's node
  double contenders = 0;  // average number of agents at the lock on arrival
};

/// The kinds from which a store chooses (AnyLock::kFootprints), in tie-breaking order.
std::span<const Footprint> footprints();
std::vector<const Footprint*> candidates();

/// The model's cost of an acquisition in ns.
double acquisition_ns(const Footprint& kind, const Workload& workload, const PrimitiveCosts& costs);

/// The cheapest; `among` is not empty.
const Footprint& choose(std::span<const Footprint* const> among, const Workload& workload,
                        const PrimitiveCosts& costs);

/// "cpu 20, loopback 500, rma 2000, posted 100, order 0; 16 nodes", in ns: the end of why()'s
/// sentence.
std::string describe(const PrimitiveCosts& costs);

/// One sentence: "rma-rw 212 ns per acquisition, gbh 1030, d-mcs 2140 (95% reads, 25% local, 1.5
/// others at the lock; costs in ns: cpu 20, ...)".
std::string why(std::span<const Footprint* const> among, const Workload& workload,
                const PrimitiveCosts& costs);

}  // namespace keyway::locks
