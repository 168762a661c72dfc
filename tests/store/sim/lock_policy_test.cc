// lock=auto against every kind that it chooses among, on a small machine: the workloads, and the
// bounds, of `./keyway bench lock_policy`.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "keyway/locks/distributed/choose.h"
#include "keyway/locks/fabric/sim/machine_file.h"
#include "keyway/tools/policy/policy_run.h"
#include "keyway/workloads/machine_files.h"

using namespace keyway;

namespace {

#if defined(KEYWAY_SIM_SMALL)
constexpr bool kSmall = true;
#else
constexpr bool kSmall = false;
#endif

policy::Plan plan_of(const std::vector<policy::Part>& parts) {
  policy::Plan plan{.machine = *fabric::sim::parse_machine(workloads::machine_text("piz-daint")),
                    .nodes = 4,
                    .stripes = static_cast<std::uint32_t>(parts.size()),
                    .parts = parts,
                    .warm_up = 2500,
                    .measured = kSmall ? 6'000 : 10'000};
  plan.machine.shape.ranks_per_node = 4;
  return plan;
}

policy::Outcome outcome_of(const policy::Plan& plan) {
  const auto found = policy::run(plan);
  INFO(plan.lock << ": " << found.status().message());
  REQUIRE(found.ok());
  return *found;
}

double best_fixed(policy::Plan plan) {
  plan.warm_up = 100;  // nothing is learned
  double best = 0;
  for (const locks::Footprint* kind : locks::candidates()) {
    plan.lock = kind->text;
    best = std::max(best, outcome_of(plan).throughput_per_s);
  }
  return best;
}

/// The kind of each part's stripes, "several" if they differ.
std::map<std::uint32_t, std::string> kinds_of(const policy::Outcome& outcome) {
  std::map<std::uint32_t, std::string> kinds;
  for (const policy::KindCount& count : outcome.kinds) {
    const auto [at, is_first] = kinds.emplace(count.part, count.kind);
    if (!is_first) at->second = "several";
  }
  return kinds;
}

}  // namespace

TEST_CASE("lock policy: within a tenth of the best fixed kind, whichever that is") {
  const policy::Part read_often{.reads = 0.95, .local = 0.9};
  const policy::Part read_from_afar{.reads = 1, .local = 0.5};
  const policy::Part written_at_home{.reads = 0, .local = 1};
  for (const auto& [part, kind] : {std::pair(read_often, "alock-rw"),
                                   {read_from_afar, "rma-rw"},
                                   {written_at_home, "alock"}}) {
    CAPTURE(part.reads, part.local);
    const policy::Plan plan = plan_of({part});
    const policy::Outcome automatic = outcome_of(plan);
    CHECK(automatic.throughput_per_s >= 0.9 * best_fixed(plan));
    CHECK(kinds_of(automatic)[0] == kind);
    CHECK(automatic.late_switches == 0);
  }
}

TEST_CASE("lock policy: ahead of every fixed kind where half the stripes want another") {
  const policy::Plan plan = plan_of(
      {{.visits = 0.5, .reads = 0.998, .local = 0.25}, {.visits = 0.5, .reads = 0, .local = 1}});
  const policy::Outcome automatic = outcome_of(plan);
  CHECK(automatic.throughput_per_s > best_fixed(plan));
  CHECK(kinds_of(automatic) == std::map<std::uint32_t, std::string>{{0, "rma-rw"}, {1, "alock"}});
}

TEST_CASE("lock policy: a run is the same every time, and a plan that makes no sense is refused") {
  policy::Plan plan = plan_of({{.reads = 0.5, .local = 0.9}});
  plan.warm_up = 300;
  CHECK(outcome_of(plan).throughput_per_s == outcome_of(plan).throughput_per_s);
  plan.stripes = 3;
  plan.parts.resize(2);
  CHECK(policy::run(plan).code() == Code::kInvalidArgument);
}
