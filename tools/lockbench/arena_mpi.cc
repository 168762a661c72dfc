#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "arena.h"
#include "invalid_argument.h"
#include "keyway/locks/base/bytes.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/fabric/mpi/mpi_fabric.h"
#include "pin.h"
#include "threads.h"

namespace keyway::lockbench {
namespace {

using fabric::MpiFabric;

std::string host_name() {
  std::string name(256, '\0');
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.c_str();
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The contributions of all ranks, on rank 0; empty elsewhere.
std::vector<std::string> gather(MpiFabric& fabric, const std::string& mine) {
  std::vector<std::string> all;
  for (const auto& bytes : fabric.gather(std::as_bytes(std::span(mine)))) {
    all.push_back(text_of(bytes));
  }
  return all;
}

/// OK, or the same failure on every rank if their options differ.
Status agree(MpiFabric& fabric, const RunOptions& options) {
  std::string mine;
  for (const std::string& word : words_of(options)) mine += word + '\n';
  Status status;
  for (const std::string& other : gather(fabric, mine)) {
    if (other != mine) {
      status =
          invalid_argument("the ranks disagree on the options: start all of them with the same");
    }
  }
  return fabric.agree(status);
}

/// The agents of all ranks, at rank 0. `hosts` shows whether they share a clock.
Result<Team> gather_teams(MpiFabric& fabric, const Team& own, Clocks& clocks) {
  std::string mine;
  for (const AgentResult& agent : own.agents) append(mine, agent);
  Team team;
  bool whole = true;
  for (std::string_view in : gather(fabric, mine)) {
    while (whole && !in.empty()) {
      AgentResult agent;
      whole = take(in, agent);
      team.agents.push_back(std::move(agent));
    }
  }
  mine.clear();
  for (const auto* histogram :
       {&own.latencies.acquire, &own.latencies.release, &own.latencies.both}) {
    histogram->serialize(mine);
  }
  for (std::string_view in : gather(fabric, mine)) {
    whole = whole && team.latencies.acquire.deserialize(in) &&
            team.latencies.release.deserialize(in) && team.latencies.both.deserialize(in);
  }
  const std::string host = host_name();
  const auto hosts = gather(fabric, host);
  const bool one = std::all_of(hosts.begin(), hosts.end(),
                               [&](const std::string& name) { return name == host; });
  clocks = one ? Clocks::kShared : Clocks::kApart;
  const Status status =
      whole ? Status() : Status(Code::kUnavailable, "a rank's measurements did not arrive whole");
  if (const Status all = fabric.agree(status); !all.ok()) return all;
  return team;
}

template <class E>
Result<std::optional<RunResult>> run(const Plan& plan, const LockTable& table,
                                     const locks::AnyLock& lock, MpiFabric& fabric) {
  std::vector<std::uint64_t> met_ns;
  const auto barrier = [&] {
    fabric.barrier();
    met_ns.push_back(steady_ns());
  };
  auto own =
      run_threads<E>(plan, table, lock, fabric, fabric.rank(), 1, Pinning::kAsLaunched, barrier);
  if (const Status status = fabric.agree(own.ok() ? Status() : own.status()); !status.ok()) {
    return status;
  }
  Clocks clocks = Clocks::kShared;
  auto team = gather_teams(fabric, *own, clocks);
  if (!team.ok()) return team.status();
  auto outsider = fabric.endpoint();
  if (const Status status = fabric.agree(outsider.ok() ? Status() : outsider.status());
      !status.ok()) {
    return status;
  }
  std::optional<RunResult> result;
  if (fabric.rank() == 0) {
    result = combine(plan, fabric.topology(), std::move(*team), read_counters(*outsider, table),
                     read_volume(*outsider, table, plan), clocks);
    if (clocks == Clocks::kApart) {
      // Only from barrier to barrier is it sure that all work lies in between.
      result->seconds = static_cast<double>(met_ns[2] - met_ns[1]) / 1e9;
      result->plan.warnings.push_back(
          "the ranks' clocks cannot be compared: time is from barrier to barrier, and there are "
          "no figures of fairness");
    }
  }
  fabric.barrier();
  return result;
}

Result<std::shared_ptr<void>> hold_mpi() {
  auto held = fabric::MpiInterface::acquire();
  if (!held.ok()) return held.status();
  return std::shared_ptr<void>(std::move(*held));
}

Result<std::optional<RunResult>> run_on_mpi(const RunOptions& options) {
  const auto mpi = fabric::MpiInterface::acquire();
  if (!mpi.ok()) return mpi.status();
  int ranks = 1;
  (*mpi)->call([&] { return MPI_Comm_size(MPI_COMM_WORLD, &ranks); });
  auto alone = make_plan(options, static_cast<std::uint32_t>(ranks));
  if (!alone.ok()) return alone.status();
  alone->ranks = 1;  // the fabric may place more locks on a rank: one rank needs the most memory
  const LockTable largest(*alone);
  auto fabric = MpiFabric::create({.segment_bytes = largest.segment_bytes(),
                                   .agents_per_rank = largest.agents_per_rank(*alone),
                                   .topology = options.topology,
                                   .force_rma = options.force_rma,
                                   .ranks_per_node = options.ranks_per_node});
  if (!fabric.ok()) return fabric.status();
  if (const Status status = agree(*fabric, options); !status.ok()) return status;
  if (options.ranks != 0 && options.ranks != fabric->ranks()) {
    return invalid_argument(
        fmt::format("--ranks {} in a job of {}: the launcher sets the ranks of mpi, so "
                    "leave it out",
                    options.ranks, fabric->ranks()));
  }
  auto plan = make_plan(options, fabric->ranks());
  if (!plan.ok()) return plan.status();
  if (plan->agents() > usable_cores()) {
    plan->warnings.push_back(
        fmt::format("{} agents, and this host has {} cores: agents that share "
                    "a core wait for it as well as for locks",
                    plan->agents(), usable_cores()));
  }
  const auto lock = lock_of(options);
  if (!lock.ok()) return lock.status();
  const LockTable table(*plan);
  if (options.counts) {
    return run<fabric::CountingEndpoint<fabric::MpiEndpoint>>(*plan, table, *lock, *fabric);
  }
  return run<fabric::MpiEndpoint>(*plan, table, *lock, *fabric);
}

}  // namespace

/// Agents are threads of the processes of a job. MPI cannot start a second time in a process.
extern const Arena kMpiArena;
const Arena kMpiArena = {.fabric = "mpi", .run = run_on_mpi, .hold = hold_mpi};

}  // namespace keyway::lockbench
