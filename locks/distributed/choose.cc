#include "keyway/locks/distributed/choose.h"

#include <fmt/core.h>

#include <algorithm>

#include "keyway/locks/distributed/any_lock.h"

namespace keyway::locks {
namespace {

/// The cost of an atomic on another node; on one node there is no other node.
double far_ns(const PrimitiveCosts& costs) {
  return costs.nodes > 1 ? costs.rma_atomic_ns : costs.loopback_ns;
}

double sweep_ns(const PrimitiveCosts& costs) {
  return far_ns(costs) + costs.counters * costs.posted_ns;
}

double uncontended_ns(const Acquisition& acquisition, const PrimitiveCosts& costs) {
  const double order = costs.nodes > 1 ? costs.order_ns : 0;
  return acquisition.cpu * costs.cpu_atomic_ns + acquisition.near_rma * costs.loopback_ns +
         acquisition.far_rma * far_ns(costs) + acquisition.orders * order +
         acquisition.sweeps * sweep_ns(costs);
}

/// How long a holder keeps a contender out: about two dependent accesses to the guarded data. A
/// writer's sweeps count as well. If readers share, a conflicting holder is a writer in 1 of 1 +
/// reads cases.
double hold_ns(const Footprint& kind, const Workload& workload, const PrimitiveCosts& costs) {
  return 2 * (workload.local * costs.cpu_atomic_ns + (1 - workload.local) * far_ns(costs)) +
         kind.remote_write.sweeps * sweep_ns(costs) / (1 + workload.reads);
}

/// The time from one holder to the next.
double handover_ns(const Footprint& kind, const Workload& workload, const PrimitiveCosts& costs) {
  const double near = kind.local_write.cpu > 0 ? costs.cpu_atomic_ns : costs.loopback_ns;
  const double once = workload.local * near + (1 - workload.local) * far_ns(costs);
  switch (kind.waiting) {
    case Waiting::kQueue: return once;
    case Waiting::kBackoff: return once + (hold_ns(kind, workload, costs) + once) / 2;
    case Waiting::kPoll: return once * (1 + workload.contenders);
  }
  return once;
}

}  // namespace

std::span<const Footprint> footprints() { return AnyLock::kFootprints; }

std::vector<const Footprint*> candidates() {
  std::vector<const Footprint*> kinds;
  for (const Footprint& kind : AnyLock::kFootprints) kinds.push_back(&kind);
  return kinds;
}

double acquisition_ns(const Footprint& kind, const Workload& workload,
                      const PrimitiveCosts& costs) {
  const double reads = workload.reads;
  const double writes = 1 - reads;
  const auto placed = [&](const Acquisition& near, const Acquisition& far) {
    return workload.local * uncontended_ns(near, costs) +
           (1 - workload.local) * uncontended_ns(far, costs);
  };
  const double alone = reads * placed(kind.local_read, kind.remote_read) +
                       writes * placed(kind.local_write, kind.remote_write);
  const double in_conflict = kind.readers_share ? 1 - reads * reads : 1;
  return alone + workload.contenders * in_conflict *
                     (hold_ns(kind, workload, costs) + handover_ns(kind, workload, costs));
}

const Footprint& choose(std::span<const Footprint* const> among, const Workload& workload,
                        const PrimitiveCosts& costs) {
  KW_CHECK(!among.empty());
  return **std::min_element(
      among.begin(), among.end(), [&](const Footprint* a, const Footprint* b) {
        return acquisition_ns(*a, workload, costs) < acquisition_ns(*b, workload, costs);
      });
}

std::string describe(const PrimitiveCosts& costs) {
  return fmt::format(
      "cpu {:.0f}, loopback {:.0f}, rma {:.0f}, posted {:.0f}, order {:.0f}; {:.0f} {}",
      costs.cpu_atomic_ns, costs.loopback_ns, costs.rma_atomic_ns, costs.posted_ns, costs.order_ns,
      costs.nodes, costs.nodes == 1 ? "node" : "nodes");
}

std::string why(std::span<const Footprint* const> among, const Workload& workload,
                const PrimitiveCosts& costs) {
  std::vector<const Footprint*> by_cost(among.begin(), among.end());
  std::stable_sort(by_cost.begin(), by_cost.end(), [&](const Footprint* a, const Footprint* b) {
    return acquisition_ns(*a, workload, costs) < acquisition_ns(*b, workload, costs);
  });
  std::string text;
  for (const Footprint* kind : by_cost) {
    text += fmt::format("{}{} {:.0f}{}", text.empty() ? "" : ", ", kind->kind,
                        acquisition_ns(*kind, workload, costs),
                        text.empty() ? " ns per acquisition" : "");
  }
  return fmt::format(
      "{} ({:.0f}% reads, {:.0f}% local, {:.1f} others at the lock; costs in ns: {})", text,
      100 * workload.reads, 100 * workload.local, workload.contenders, describe(costs));
}

}  // namespace keyway::locks
