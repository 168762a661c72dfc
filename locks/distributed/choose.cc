#include "keyway/locks/distributed/choose.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "keyway/locks/distributed/any_lock.h"

namespace keyway::locks {
namespace {

// A reader of RMA-RW arrives at its counter and departs from it, and the counter is near. A writer
// takes and gives the queue's tail, closes the counters, sees them empty and opens them: three
// sweeps. A queue's node is made ready by one flush of the agent's own memory.
constexpr std::array kFootprints = {
    Footprint{.kind = "rma-rw",
              .text = "rma-rw",
              .readers_share = true,
              .local_read = {.near_rma = 2},
              .remote_read = {.near_rma = 2},
              .local_write = {.near_rma = 3, .sweeps = 3},
              .remote_write = {.near_rma = 1, .far_rma = 2, .sweeps = 3}},
    // Remote: the tail, then the victim and the other tail in one round trip, then the release.
    Footprint{.kind = "alock",
              .text = "alock",
              .local_read = {.cpu = 3},
              .remote_read = {.far_rma = 3, .orders = 1},
              .local_write = {.cpu = 3},
              .remote_write = {.far_rma = 3, .orders = 1}},
    // A reader counts itself and looks for a writer in one round trip; a writer enters as by ALock,
    // looks whether readers wait, raises its word and sees both counts in one round trip, and
    // lowers the word before it leaves. By the processor most of that is loads.
    Footprint{.kind = "alock-rw",
              .text = "alock-rw",
              .readers_share = true,
              .local_read = {.cpu = 2},
              .remote_read = {.far_rma = 2, .orders = 1},
              .local_write = {.cpu = 4},
              .remote_write = {.far_rma = 5, .orders = 3}},
    Footprint{.kind = "gbh",
              .text = "gbh:lockall=off",
              .readers_share = true,
              .waiting = Waiting::kBackoff,
              .local_read = {.near_rma = 2},
              .remote_read = {.far_rma = 2},
              .local_write = {.near_rma = 2},
              .remote_write = {.far_rma = 2}},
    Footprint{.kind = "fompi-spin",
              .text = "fompi-spin",
              .waiting = Waiting::kPoll,
              .local_read = {.near_rma = 2},
              .remote_read = {.far_rma = 2},
              .local_write = {.near_rma = 2},
              .remote_write = {.far_rma = 2}},
    Footprint{.kind = "d-mcs",
              .text = "d-mcs",
              .local_read = {.near_rma = 3},
              .remote_read = {.near_rma = 1, .far_rma = 2},
              .local_write = {.near_rma = 3},
              .remote_write = {.near_rma = 1, .far_rma = 2}},
};

/// What an atomic to somewhere else costs: on one node there is no elsewhere.
double far_ns(const PrimitiveCosts& costs) {
  return costs.nodes > 1 ? costs.rma_atomic_ns : costs.loopback_ns;
}

double sweep_ns(const PrimitiveCosts& costs) {
  return far_ns(costs) + costs.counters * costs.posted_ns;
}

double uncontended_ns(const Visit& visit, const PrimitiveCosts& costs) {
  const double order = costs.nodes > 1 ? costs.order_ns : 0;
  return visit.cpu * costs.cpu_atomic_ns + visit.near_rma * costs.loopback_ns +
         visit.far_rma * far_ns(costs) + visit.orders * order + visit.sweeps * sweep_ns(costs);
}

/// What a holder that is in the way does with what the lock guards: about two accesses that depend
/// on each other. A writer's sweeps keep others out as well; where readers share, who is in the way
/// of somebody is a writer in 1 of 1 + reads cases.
double stay_ns(const Footprint& kind, const Workload& workload, const PrimitiveCosts& costs) {
  return 2 * (workload.local * costs.cpu_atomic_ns + (1 - workload.local) * far_ns(costs)) +
         kind.remote_write.sweeps * sweep_ns(costs) / (1 + workload.reads);
}

/// From one holder to the next.
double handover_ns(const Footprint& kind, const Workload& workload, const PrimitiveCosts& costs) {
  const double near = kind.local_write.cpu > 0 ? costs.cpu_atomic_ns : costs.loopback_ns;
  const double once = workload.local * near + (1 - workload.local) * far_ns(costs);
  switch (kind.waiting) {
    case Waiting::kQueue: return once;
    case Waiting::kBackoff: return once + (stay_ns(kind, workload, costs) + once) / 2;
    case Waiting::kPoll: return once * (1 + workload.others);
  }
  return once;
}

}  // namespace

std::span<const Footprint> footprints() { return kFootprints; }

std::vector<const Footprint*> candidates() {
  std::vector<const Footprint*> known;
  for (const Footprint& kind : kFootprints) {
    const auto& names = AnyLock::kNames;
    if (std::find(names.begin(), names.end(), kind.kind) != names.end()) known.push_back(&kind);
  }
  return known;
}

double visit_ns(const Footprint& kind, const Workload& workload, const PrimitiveCosts& costs) {
  const double reads = workload.reads;
  const double writes = 1 - reads;
  const auto placed = [&](const Visit& near, const Visit& far) {
    return workload.local * uncontended_ns(near, costs) +
           (1 - workload.local) * uncontended_ns(far, costs);
  };
  const double alone = reads * placed(kind.local_read, kind.remote_read) +
                       writes * placed(kind.local_write, kind.remote_write);
  const double in_conflict = kind.readers_share ? 1 - reads * reads : 1;
  return alone + workload.others * in_conflict *
                     (stay_ns(kind, workload, costs) + handover_ns(kind, workload, costs));
}

const Footprint& choose(std::span<const Footprint* const> among, const Workload& workload,
                        const PrimitiveCosts& costs) {
  KW_CHECK(!among.empty());
  return **std::min_element(among.begin(), among.end(),
                            [&](const Footprint* a, const Footprint* b) {
                              return visit_ns(*a, workload, costs) < visit_ns(*b, workload, costs);
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
    return visit_ns(*a, workload, costs) < visit_ns(*b, workload, costs);
  });
  std::string text;
  for (const Footprint* kind : by_cost) {
    text += fmt::format("{}{} {:.0f}{}", text.empty() ? "" : ", ", kind->kind,
                        visit_ns(*kind, workload, costs), text.empty() ? " ns a visit" : "");
  }
  return fmt::format(
      "{} ({:.0f}% reads, {:.0f}% local, {:.1f} others at the lock; costs in ns: {})", text,
      100 * workload.reads, 100 * workload.local, workload.others, describe(costs));
}

}  // namespace keyway::locks
