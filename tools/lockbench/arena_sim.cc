#include <fmt/core.h>
#include <time.h>

#include <charconv>
#include <fstream>
#include <sstream>

#include "arena.h"
#include "fibers.h"
#include "invalid_argument.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/fabric/sim/machine_file.h"
#include "keyway/workloads/machine_files.h"

namespace keyway::lockbench {
namespace {

using fabric::sim::Machine;

constexpr std::uint32_t kDefaultRanks = 16;

/// The text of a machine file, by name or by path.
Result<std::string> machine_file(const std::string& name) {
  if (const auto built_in = workloads::machine_text(name); !built_in.empty()) {
    return std::string(built_in);
  }
  std::ifstream file(name);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return invalid_argument(
        fmt::format("--machine {} is neither a machine nor a file that can be read; "
                    "lockbench --help lists the machines",
                    name));
  }
  return text.str();
}

Status apply(const std::string& setting, Machine& machine) {
  const std::size_t equals = setting.find('=');
  double value = 0;
  const char* end = setting.data() + setting.size();
  if (equals == std::string::npos || equals == 0 ||
      std::from_chars(setting.data() + equals + 1, end, value).ptr != end ||
      equals + 1 == setting.size()) {
    return invalid_argument(
        fmt::format("--set {} is malformed: write DOTTED=NUMBER, as in "
                    "card.atomic_ns=50",
                    setting));
  }
  return set_parameter(machine, setting.substr(0, equals), value);
}

/// Processor time of this thread, in s.
double processor_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

template <class E>
Result<std::optional<RunResult>> run(const Plan& plan, const LockTable& table,
                                     const locks::AnyLock& lock, fabric::SimFabric& fabric,
                                     std::string machine_text) {
  const std::uint64_t begun = steady_ns();
  const double begun_s = processor_s();
  auto team = run_fibers<E>(plan, table, lock, fabric);
  if (!team.ok()) return team.status();
  const std::uint64_t took = steady_ns() - begun;
  const double worked_s = processor_s() - begun_s;
  auto outsider = fabric.endpoint(0);
  if (!outsider.ok()) return outsider.status();
  RunResult result =
      combine(plan, fabric.topology(), std::move(*team), read_counters(*outsider, table),
              read_volume(*outsider, table, plan), Clocks::kShared);
  result.simulation = Simulation{.machine_text = std::move(machine_text),
                                 .parameters = parameters(fabric.machine()),
                                 .virtual_ns = fabric.time_ns(),
                                 .events = fabric.stats().events,
                                 .operations = fabric.stats().operations(),
                                 .host_s = static_cast<double>(took) / 1e9,
                                 .processor_s = worked_s};
  return std::optional(std::move(result));
}

Result<std::optional<RunResult>> run_on_sim(const RunOptions& options) {
  const auto plan = make_plan(options, options.ranks != 0 ? options.ranks : kDefaultRanks);
  if (!plan.ok()) return plan.status();
  auto text = machine_file(options.machine);
  if (!text.ok()) return text.status();
  auto machine = fabric::sim::parse_machine(*text);
  if (!machine.ok()) {
    return invalid_argument(
        fmt::format("--machine {}: {}", options.machine, machine.status().message()));
  }
  for (const std::string& setting : options.settings) {
    if (const Status status = apply(setting, *machine); !status.ok()) return status;
  }
  const auto lock = lock_of(options);
  if (!lock.ok()) return lock.status();
  const LockTable table(*plan);
  auto fabric = fabric::SimFabric::create({.machine = std::move(*machine),
                                           .ranks = plan->ranks,
                                           .segment_bytes = table.segment_bytes(),
                                           .agents_per_rank = table.agents_per_rank(*plan),
                                           .seed = options.seed,
                                           .topology = options.topology});
  if (!fabric.ok()) return fabric.status();
  if (options.counts) {
    return run<fabric::CountingEndpoint<fabric::SimEndpoint>>(*plan, table, *lock, *fabric,
                                                              std::move(*text));
  }
  return run<fabric::SimEndpoint>(*plan, table, *lock, *fabric, std::move(*text));
}

}  // namespace

/// Agents are fibers of a simulated machine.
extern const Arena kSimArena;
const Arena kSimArena = {.fabric = "sim", .side_by_side = true, .run = run_on_sim};

}  // namespace keyway::lockbench
