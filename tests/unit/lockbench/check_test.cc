// The check at the end of a run can fail: locks with a known defect, run through the very body that
// measures, are caught, and by what the defect breaks.
#include "tools/lockbench/check.h"

#include <catch2/catch.hpp>

#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/distributed/no_lock.h"
#include "keyway/locks/fabric/shm/shm_fabric.h"
#include "keyway/locks/fabric/sim/machine_file.h"
#include "keyway/workloads/machine_files.h"
#include "tests/mutants/made/fompi_rw_mutants.h"
#include "tests/mutants/made/fompi_spin_mutants.h"
#include "tools/lockbench/fibers.h"
#include "tools/lockbench/result.h"
#include "tools/lockbench/threads.h"

using namespace keyway;
using namespace keyway::lockbench;

namespace {

/// 32 agents on two nodes of a simulated Piz Daint.
template <class L>
Check run_with(const L& lock, RunOptions options = {}) {
  options.fabric = "sim";
  options.acquires = 40;
  const auto plan = make_plan(options, 32);
  REQUIRE(plan.ok());
  const LockTable table(*plan);
  auto machine = fabric::sim::parse_machine(workloads::machine_text("piz-daint"));
  REQUIRE(machine.ok());
  auto fabric = fabric::SimFabric::create({.machine = *machine,
                                           .ranks = plan->ranks,
                                           .segment_bytes = table.segment_bytes(),
                                           .agents_per_rank = table.agents_per_rank(*plan)});
  REQUIRE(fabric.ok());
  auto team = run_fibers<fabric::SimEndpoint>(*plan, table, lock, *fabric);
  REQUIRE(team.ok());
  auto outsider = fabric->endpoint(0);
  REQUIRE(outsider.ok());
  return check_run(team->agents, read_counters(*outsider, table),
                   read_volume(*outsider, table, *plan));
}

/// Four threads on two ranks of shared memory.
template <class E, class L>
RunResult run_threaded(const L& lock, RunOptions options) {
  options.threads = 2;
  options.acquires = 200;
  options.check = "every";
  const auto plan = make_plan(options, 2);
  REQUIRE(plan.ok());
  const LockTable table(*plan);
  auto fabric = fabric::ShmFabric::create({.ranks = 2,
                                           .segment_bytes = table.segment_bytes(),
                                           .agents_per_rank = table.agents_per_rank(*plan)});
  REQUIRE(fabric.ok());
  auto team = run_threads<E>(*plan, table, lock, *fabric, 0, 2, Pinning::kInTurn, [] {});
  REQUIRE(team.ok());
  auto outsider = fabric->endpoint(0);
  REQUIRE(outsider.ok());
  return combine(*plan, fabric->topology(), std::move(*team), read_counters(*outsider, table),
                 read_volume(*outsider, table, *plan), Clocks::kShared);
}

RunOptions with_readers() {
  RunOptions options;
  options.fw = 0.3;
  return options;
}

}  // namespace

TEST_CASE("check: faithful locks pass, whatever the bench and however much is checked") {
  for (const std::string& bench : bench_names()) {
    for (const char* check : {"warm-up", "every"}) {
      CAPTURE(bench, check);
      RunOptions options = with_readers();
      options.bench = bench;
      options.check = check;
      const std::uint64_t agents = bench == "dht" ? 31 : 32;  // one only has the volume
      const Check spin = run_with(locks::FompiSpin(), options);
      CHECK(spin.failure == "");
      CHECK(spin.exclusive == agents * 40);
      CHECK(spin.increments >= agents * (options.check == "every" ? 40 : 4));
      const Check rw = run_with(locks::FompiRw(), options);
      CHECK(rw.failure == "");
      CHECK(rw.exclusive < agents * 40);
    }
  }
}

TEST_CASE("check: a lock that lets two in loses increments, and is seen to overlap") {
  RunOptions every;
  every.check = "every";
  const Check check = run_with(mutants::FompiSpinEntersAfterOneRetry(), every);
  CHECK_FALSE(check.passed());
  CHECK(check.counter < check.increments);
  CHECK(check.overlap > 0);
}

TEST_CASE("check: the warm-up alone tells, as is the default") {
  const Check check = run_with(mutants::FompiSpinEntersAfterOneRetry());
  CHECK_FALSE(check.passed());
  CHECK(check.counter < check.increments);
}

TEST_CASE("check: readers beside a writer see half of its work") {
  RunOptions every = with_readers();
  every.check = "every";
  const Check check = run_with(mutants::FompiRwReaderIgnoresWriter(), every);
  CHECK_FALSE(check.passed());
  CHECK(check.torn > 0);
  CHECK(check.counter == check.increments);  // writers do exclude each other
}

TEST_CASE("check: an agent that gave up is a failure with its own words") {
  AgentResult agent;
  agent.use.resize(1);
  agent.trouble = "waited for a minute";
  CHECK(check_run({agent}, {0}).failure == "waited for a minute");
}

TEST_CASE("check: what one lock lost another cannot make up for") {
  AgentResult agent;
  agent.use = {{2, 2}, {2, 2}};
  CHECK(check_run({agent}, {2, 2}).passed());
  CHECK(check_run({agent}, {1, 3}).failure.find("lock 0") != std::string::npos);
}

TEST_CASE("check: the volume of bench dht holds what was inserted, and nothing else") {
  AgentResult two, one;
  two.use.resize(1);
  one.use.resize(1);
  two.inserted = 2;
  one.inserted = 1;
  const auto after = [&](const std::vector<std::uint64_t>& volume) {
    return check_run({two, one}, {0}, volume).failure;
  };
  const std::uint64_t a = volume_key(0, 0), b = volume_key(0, 1), c = volume_key(1, 0);
  CHECK(after({a, c, b}).empty());
  CHECK(after({a, b}).find("lost") != std::string::npos);
  CHECK(after({a, b, b}).find("lost") != std::string::npos);
  CHECK(after({a, b, c, c}).find("lost") != std::string::npos);
  one.missed = 1;
  CHECK(after({a, b, c}).find("did not find") != std::string::npos);
}

TEST_CASE("check: without a lock inserts are lost; atomics need none") {
  RunOptions options;
  options.bench = "dht";
  options.fw = 1;
  const Check check = run_with(locks::NoLock(), options);
  CHECK_FALSE(check.passed());
  CHECK(check.inserted == 31 * 40);
  CHECK(check.found < check.inserted);
  options.lock = kAtomicsOnly;  // the lock is not touched
  const Check without = run_with(mutants::FompiSpinEntersAfterOneRetry(), options);
  CHECK(without.failure == "");
  CHECK(without.found == 31 * 40);
  CHECK(without.exclusive == 0);
}

TEST_CASE("threads: every kind passes, on the endpoint and on one that counts") {
  for (const auto kind : locks::AnyLock::kNames) {
    CAPTURE(kind);
    const auto lock = locks::AnyLock::make(kind);
    REQUIRE(lock.ok());
    const RunResult bare = run_threaded<fabric::ShmEndpoint>(*lock, with_readers());
    CHECK(bare.check.failure == "");
    CHECK(bare.acquires() == 4 * 180);
    CHECK(bare.latencies.both.count() == 4 * 180);
    CHECK(bare.counts.levels() == 0);
    const RunResult counted =
        run_threaded<fabric::CountingEndpoint<fabric::ShmEndpoint>>(*lock, with_readers());
    CHECK(counted.check.failure == "");
    CHECK(counted.counts.levels() == counted.levels.size());
  }
}
