#include "plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "benches/all.h"
#include "invalid_argument.h"
#include "keyway/locks/base/rng.h"

namespace keyway::lockbench {
namespace {

/// Agents that write, under --roles process; as worker.h assigns the roles.
std::uint64_t writers_of(const Plan& plan) {
  return static_cast<std::uint64_t>(std::floor(plan.agents() * plan.options.fw + 1e-9));
}

void warn(Plan& plan) {
  const RunOptions& options = plan.options;
  if (options.roles == "process" && options.fw > 0 && writers_of(plan) == 0) {
    plan.warnings.push_back(
        fmt::format("--fw {:g} of {} agents makes no writer: give more ranks, or --roles "
                    "operation",
                    options.fw, plan.agents()));
  }
  if (options.locality && plan.locks == 1) {
    plan.warnings.push_back("--locality makes no difference with a single lock: give --locks");
  }
}

/// Slots of the volume: few enough that collisions are common, as in a table without room to grow.
/// The paper gives no size.
constexpr std::uint64_t kSlots = 4096;

/// Room for every insert that fits into eight standard deviations: a volume that is full ends a
/// run.
store::AtomicTableShape volume_for(const Plan& plan) {
  const double agents = plan.agents() - plan.threads;
  const double drawn = agents * static_cast<double>(plan.measured) * plan.options.fw;
  const double inserts = agents * static_cast<double>(plan.warm_up) + drawn + 8 * std::sqrt(drawn);
  return {.slots = kSlots, .cells = static_cast<std::uint64_t>(inserts) + 1};
}

Status plan_volume(Plan& plan) {
  RunOptions& options = plan.options;
  if (plan.ranks < 2) {
    return invalid_argument(
        "--bench dht needs two ranks or more: one has the volume, the others use it");
  }
  if (plan.locks != 1 || options.seconds != 0 || options.roles != "operation") {
    return invalid_argument(
        "--bench dht is a number of inserts and reads under one lock: leave out --locks, "
        "--seconds and --roles");
  }
  if (plan.atomics_only) {
    options.sample = 0;  // there is no acquire to measure
    options.check = RunOptions().check;
  }
  plan.volume = volume_for(plan);
  return {};
}

}  // namespace

Result<locks::AnyLock> lock_of(const RunOptions& options) {
  if (options.lock == kAtomicsOnly) return locks::AnyLock();
  return locks::AnyLock::make(options.lock);
}

std::uint64_t Plan::agent_seed(std::uint32_t agent) const {
  std::uint64_t state = options.seed;
  state = splitmix64(state) ^ agent;
  return splitmix64(state);
}

Result<Plan> make_plan(const RunOptions& options, std::uint32_t ranks) {
  Plan plan{.options = options, .ranks = ranks, .threads = options.threads};
  const bool simulated = options.fabric == "sim";
  plan.locks = options.locks != 0 ? options.locks : default_locks(options.bench);
  if (options.home >= ranks) {
    return invalid_argument(fmt::format(
        "--home {} is out of range: there are {} ranks, counted from 0", options.home, ranks));
  }
  if (ranks % options.stride != 0) {
    return invalid_argument(
        fmt::format("--stride {} does not divide the {} ranks", options.stride, ranks));
  }
  if (options.work_min_ns > options.work_max_ns) {
    return invalid_argument(fmt::format("--work-min-ns {} is above --work-max-ns {}: swap them",
                                        options.work_min_ns, options.work_max_ns));
  }
  const std::uint64_t acquires = options.acquires != 0
                                     ? options.acquires
                                     : (simulated ? kAcquiresInSimulation : kAcquiresOnRealFabrics);
  const double discarded = std::floor(static_cast<double>(acquires) * options.warmup);
  plan.warm_up = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(discarded));
  if (options.seconds > 0) {
    // How many acquires fit is not known before: the warm-up is a fixed number.
    plan.warm_up = simulated ? 10 : 1000;
  } else if (plan.warm_up >= acquires) {
    return invalid_argument(fmt::format(
        "--acquires {} leaves nothing to measure after {} of warm-up: raise it to {} or more",
        acquires, plan.warm_up, plan.warm_up + 1));
  } else {
    plan.measured = acquires - plan.warm_up;
  }
  plan.atomics_only = options.lock == kAtomicsOnly;
  if (options.bench == Dht::kName) {
    if (const Status status = plan_volume(plan); !status.ok()) return status;
  } else if (plan.atomics_only) {
    return invalid_argument("--lock fompi-a is a table of atomics without a lock: add --bench dht");
  }
  plan.check_every = plan.options.check == "every";
  warn(plan);
  return plan;
}

}  // namespace keyway::lockbench
