// K3, H5: as no_memory_test.cc, on a simulated machine with one rank per node.
#include "far_store.h"
#include "keyway/kvstore/sim/session_sim.h"
#include "keyway/locks/fabric/sim/sim_fabric.h"
#include "tests/support/shaken_machine.h"
#include "walks.h"
#include "writes.h"

using namespace keyway;
using namespace keyway::test;

namespace {

using SimulatedStore = FarStore<fabric::SimFabric>;

/// Operations take no time: no agent of the simulation runs.
fabric::SimFabric make_fabric(std::uint64_t segment_bytes, std::uint32_t agents) {
  return std::move(*fabric::SimFabric::create({.machine = shaken_machine(1, 0),
                                               .ranks = SimulatedStore::kRanks,
                                               .segment_bytes = segment_bytes,
                                               .agents_per_rank = agents}));
}

}  // namespace

TEST_CASE("no memory, simulated: a clear frees only what has left its bucket") {
  SimulatedStore store(make_fabric);
  check_walks(store, Walked::By::kClear, [](auto& session) { return session.clear_rank(1); });
}

TEST_CASE("no memory, simulated: writes of several keys are done wholly or not at all") {
  SimulatedStore store(make_fabric);
  store.fill(2);
  check_put_all(store);
  check_put_all_twice(store);
  check_put_all_present(store);
  check_erase_all(store);
  check_transact(store);
  check_puts(store);
}
