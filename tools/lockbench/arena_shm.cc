#include <fmt/core.h>

#include "arena.h"
#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/fabric/shm/shm_fabric.h"
#include "pin.h"
#include "threads.h"

namespace keyway::lockbench {
namespace {

template <class E>
Result<std::optional<RunResult>> run(const Plan& plan, const LockTable& table,
                                     const locks::AnyLock& lock, fabric::ShmFabric& fabric) {
  auto team = run_threads<E>(plan, table, lock, fabric, 0, plan.ranks, Pinning::kInTurn, [] {});
  if (!team.ok()) return team.status();
  auto outsider = fabric.endpoint(0);
  if (!outsider.ok()) return outsider.status();
  return std::optional(combine(plan, fabric.topology(), std::move(*team),
                               read_counters(*outsider, table), read_volume(*outsider, table, plan),
                               Clocks::kShared));
}

Result<std::optional<RunResult>> run_on_shm(const RunOptions& options) {
  auto plan = make_plan(options, options.ranks != 0 ? options.ranks : usable_cores());
  if (!plan.ok()) return plan.status();
  if (plan->agents() > usable_cores()) {
    plan->warnings.push_back(
        fmt::format("{} agents share {} cores: they wait for the processor "
                    "as well as for locks",
                    plan->agents(), usable_cores()));
  }
  const auto lock = lock_of(options);
  if (!lock.ok()) return lock.status();
  const LockTable table(*plan);
  auto fabric = fabric::ShmFabric::create({.ranks = plan->ranks,
                                           .segment_bytes = table.segment_bytes(),
                                           .agents_per_rank = table.agents_per_rank(*plan),
                                           .topology = options.topology});
  if (!fabric.ok()) return fabric.status();
  if (options.counts) {
    return run<fabric::CountingEndpoint<fabric::ShmEndpoint>>(*plan, table, *lock, *fabric);
  }
  return run<fabric::ShmEndpoint>(*plan, table, *lock, *fabric);
}

}  // namespace

/// Agents are threads of this process.
extern const Arena kShmArena;
const Arena kShmArena = {.fabric = "shm", .run = run_on_shm};

}  // namespace keyway::lockbench
