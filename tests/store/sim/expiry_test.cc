// Expiry in simulation: it passes in virtual time, at one instant for every rank.
#include "keyway/locks/fabric/sim/sim_endpoint.h"
#include "tests/store/sim/sim_runs.h"
#include "tests/support/shaken_machine.h"

using namespace keyway;
using namespace keyway::test;

TEST_CASE("store in simulation: an element is there until its time and not from then on") {
  constexpr std::uint32_t kRanks = 4;
  constexpr std::uint64_t kAtMs = 3;
  SimStore<fabric::SimEndpoint> store(
      {.ranks = kRanks, .machine = shaken_machine(2, 8000), .seed = 5});
  const SimTeam team(store.fabric());
  auto barrier = team.barrier();
  std::vector<std::uint32_t> seen(kRanks);
  team.run([&](std::uint32_t me) {
    const auto session = store.session(me);
    const auto now = [&] { return session->endpoint().wall_ms(); };
    if (me == 0 && !session->put("k", "v", {.expires_at_ms = kAtMs}).ok()) barrier.fail("put");
    barrier.arrive_and_wait(me);
    std::string value;
    for (bool there = true; there; seen[me] += there) {
      const bool early = now() < kAtMs;
      there = session->get("k", value).ok();
      const bool late = now() >= kAtMs;
      if (there && !early) barrier.fail(fmt::format("rank {} sees it after its time", me));
      if (!there && !late) barrier.fail(fmt::format("rank {} misses it before its time", me));
    }
  });
  CHECK(barrier.failure() == "");
  for (const std::uint32_t times : seen) CHECK(times > 10);
  const auto walker = store.session(1);
  CHECK(*walker->size() == 1);  // not swept yet
  std::uint64_t swept = 0;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) swept += *walker->sweep_expired(rank);
  CHECK(swept == 1);
  check_volumes(*walker, kRanks);
}
