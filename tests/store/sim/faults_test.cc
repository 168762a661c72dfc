// The store with an agent that loses its core while it holds a lock, and with slow paths to one
// node: it stays linearizable and atomic. And planted defects, to show that the checks on simulated
// runs find them: the same endpoint without the defect passes.
#include <span>

#include "keyway/kvstore/session_impl.h"
#include "tests/store/sim/faulty_endpoint.h"
#include "tests/store/sim/seeds.h"
#include "tests/store/sim/sim_runs.h"
#include "tests/support/shaken_machine.h"

using namespace keyway;
using namespace keyway::test;

namespace {

using FaultyStore = SimStore<FaultyEndpoint>;

constexpr const char* kLocks[] = {"gbh:lockall=off,versions=on", "fompi-rw", "d-mcs"};
#if defined(KEYWAY_SIM_SMALL)
constexpr std::uint32_t kRounds = 3;
constexpr std::uint32_t kPlantedRounds = 40;
constexpr std::uint32_t kActions = 6;
constexpr std::uint64_t kSeeds = 1;
#else
constexpr std::uint32_t kRounds = 12;
constexpr std::uint32_t kPlantedRounds = 40;
constexpr std::uint32_t kActions = 25;
constexpr std::uint64_t kSeeds = 3;
#endif
constexpr double kJitterNs = 8000;

// For what only the order of posted operations shows.
constexpr double kLargeJitterNs = 40'000;

SimPlan plan_of(const char* lock, std::uint64_t seed) {
  return {.lock = lock, .ranks = 8, .machine = shaken_machine(2, kJitterNs), .seed = seed};
}

/// Sessions of agents that have the faults that faults_of(agent) says.
template <class FaultsOf>
auto faulty_sessions(FaultyStore& store, std::uint64_t seed, FaultsOf faults_of) {
  return [&store, seed, faults_of](std::uint32_t me) {
    return store.session(me, store.fabric(), me, faults_of(me), seed);
  };
}
auto sound_sessions(FaultyStore& store) {
  return faulty_sessions(store, 1, [](std::uint32_t) { return Faults(); });
}

/// Runs `check(plan)` for each lock and seed.
template <class Check>
void for_each_plan(std::span<const char* const> locks, Check&& check) {
  for (const char* lock : locks) {
    DYNAMIC_SECTION(lock) {
      for (const std::uint64_t seed : sim_seeds(kSeeds)) {
        INFO(sim_replay(lock, seed));
        check(plan_of(lock, seed));
      }
    }
  }
}

template <class FaultsOf>
void check_runs(const SimPlan& plan, FaultsOf faults_of) {
  {
    FaultyStore store(plan);
    const History all = recorded(SimTeam(store.fabric()), record_plan(plan, kRounds),
                                 faulty_sessions(store, plan.seed, faults_of));
    CHECK(LinearizabilityChecker::violation(all).value_or("") == "");
    check_after(store, sound_sessions(store));
  }
  FaultyStore store(plan);
  CHECK(transfer_in(store, plan.seed, kActions, faulty_sessions(store, plan.seed, faults_of)) ==
        "");
  check_after(store, sound_sessions(store));
}

/// The error that the checks find in a recorded run in which every agent has these faults, or
/// nothing
std::string found_in_history(const SimPlan& plan, const Faults& faults) {
  FaultyStore store(plan);
  const Recorded all =
      record_with(SimTeam(store.fabric()), record_plan(plan, kPlantedRounds),
                  faulty_sessions(store, plan.seed, [&](std::uint32_t) { return faults; }));
  if (all.failure != "") return all.failure;
  return LinearizabilityChecker::violation(all.history).value_or("");
}

/// Every agent increments one small counter, which takes no heap. Returns the error, or nothing.
std::string found_in_counter(const SimPlan& plan, const Faults& faults) {
  constexpr std::uint32_t kTimes = 10;
  FaultyStore store(plan);
  const auto open = faulty_sessions(store, plan.seed, [&](std::uint32_t) { return faults; });
  const SimTeam team(store.fabric());
  auto barrier = team.barrier();
  History history;
  std::string text;
  team.run([&](std::uint32_t me) {
    const auto session = open(me);
    for (std::uint32_t i = 0; i < kTimes; ++i) {
      Event event{.invoked = barrier.now(), .argument = 1, .agent = me, .op = Op::kIncrement};
      const auto sum = session->increment("counter", 1);
      if (!sum.ok()) return barrier.fail(std::string(sum.status().message()));
      event.result = *sum;
      event.answered = barrier.now();
      history.push_back(event);
    }
    if (!barrier.arrive_and_wait(me) || me != 0) return;
    if (!session->get("counter", text).ok()) barrier.fail("the counter is gone");
  });
  if (barrier.failed()) return barrier.failure();
  const std::string all = std::to_string(team.agents() * kTimes);
  if (text != all) return fmt::format("the counter is {} and not {}", text, all);
  return LinearizabilityChecker::violation(history).value_or("");
}

}  // namespace

TEST_CASE("store in simulation: agents whose cores are taken away hold up others, and no more") {
  for_each_plan(kLocks, [](const SimPlan& plan) {
    check_runs(
        plan, [](std::uint32_t me) { return me % 3 == 0 ? Faults{.slow_ns = 200'000} : Faults(); });
  });
}

TEST_CASE("store in simulation: slow ways to one node") {
  for_each_plan(kLocks, [](const SimPlan& plan) {
    check_runs(plan, [](std::uint32_t me) {
      if (me < 2) return Faults();  // on the node itself
      return Faults{.is_late = [](std::uint32_t rank) { return rank < 2; }, .late_ns = 100'000};
    });
  });
}

TEST_CASE("store in simulation: a planted flush that is forgotten is found in every history") {
  for_each_plan(kLocks, [](SimPlan plan) {
    plan.machine = shaken_machine(2, kLargeJitterNs);
    CHECK(found_in_history(plan, {}) == "");
    CHECK(found_in_history(plan, {.forgets_flush = true}) != "");
  });
}

TEST_CASE("store in simulation: a planted lock that lets agents in too early is found") {
  // Not d-mcs: an agent that enters its queue out of turn makes it a ring, and no run ends. Its
  // mutants have separate tests (tests/conformance).
  constexpr const char* kWithoutQueue[] = {"gbh:lockall=off,versions=on", "fompi-rw", "fompi-spin"};
  for_each_plan(kWithoutQueue, [](const SimPlan& plan) {
    CHECK(found_in_counter(plan, {}) == "");
    CHECK(found_in_counter(plan, {.impatient = true}) != "");
  });
}
