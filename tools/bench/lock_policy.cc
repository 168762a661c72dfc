// bench_lock_policy: the store on a simulated machine under one lock kind, or under lock=auto.
//
//   bench_lock_policy kinds
//   bench_lock_policy MACHINE NODES RANKS_PER_NODE STRIPES WARM_UP MEASURED SEED PARTS LOCK...
//
// `kinds` lists those that lock=auto chooses among, one a line.
// PARTS: VISITS:READS:LOCAL of each, shares from 0 to 1, with commas between. Prints one JSON line
// for each LOCK (tools/policy/policy_run.h says what is in it).
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "keyway/locks/distributed/choose.h"
#include "keyway/locks/fabric/sim/machine_file.h"
#include "keyway/tools/policy/policy_run.h"
#include "keyway/workloads/machine_files.h"

namespace {

using namespace keyway;

constexpr int kUsage = 2;

std::vector<policy::Part> parts_of(const std::string& text) {
  std::vector<policy::Part> parts;
  const char* at = text.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    policy::Part part;
    for (double* share : {&part.visits, &part.reads, &part.local}) {
      *share = std::strtod(at, &end);
      if (end == at) return {};
      at = *end == '\0' ? end : end + 1;
    }
    parts.push_back(part);
  }
  return parts;
}

void print(const std::string& lock, const policy::Outcome& found) {
  nlohmann::ordered_json line{{"lock", lock},
                              {"throughput_per_s", found.throughput_per_s},
                              {"switches", found.switches},
                              {"learned_visits", found.learned},
                              {"learned_ms", found.learned_ns / 1e6},
                              {"late_switches", found.late_switches}};
  for (const policy::KindCount& count : found.kinds) {
    line["kinds"].push_back(
        {{"part", count.part}, {"kind", count.kind}, {"stripes", count.stripes}});
  }
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);
}

int fail(std::string_view what) {
  fmt::print(stderr, "bench_lock_policy: {}\n", what);
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "kinds") {
    for (const locks::Footprint& kind : locks::footprints()) fmt::print("{}\n", kind.text);
    return 0;
  }
  if (argc < 10) {
    return fail(
        "usage: kinds, or MACHINE NODES RANKS_PER_NODE STRIPES WARM_UP MEASURED SEED PARTS "
        "LOCK...");
  }
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  auto machine = fabric::sim::parse_machine(workloads::machine_text(argv[1]));
  if (!machine.ok()) return fail(machine.status().message());
  machine->shape.ranks_per_node = static_cast<std::uint32_t>(number(3));
  policy::Plan plan{.machine = *machine,
                    .nodes = static_cast<std::uint32_t>(number(2)),
                    .stripes = static_cast<std::uint32_t>(number(4)),
                    .parts = parts_of(argv[8]),
                    .warm_up = number(5),
                    .measured = number(6),
                    .seed = number(7)};
  for (int i = 9; i < argc; ++i) {
    plan.lock = argv[i];
    const auto found = policy::run(plan);
    if (!found.ok()) return fail(found.status().message());
    print(plan.lock, *found);
  }
}
