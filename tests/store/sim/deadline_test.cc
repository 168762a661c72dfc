// How long operations wait in virtual time for stripes that others hold.
#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/fabric/sim/sim_endpoint.h"
#include "tests/store/sim/sim_store.h"
#include "tests/support/shaken_machine.h"

using namespace keyway;
using namespace keyway::test;

namespace {

using PlainStore = SimStore<fabric::SimEndpoint>;

constexpr double kTimeoutNs = 10e9;  // SimStore's

/// A key in each of the first two stripes of rank 0. An operation on both locks them in this order.
std::array<std::string, 2> keys_of_two_stripes(PlainStore& store) {
  const auto session = store.session(0);
  std::array<std::string, 2> keys;
  for (int i = 0; keys[0].empty() || keys[1].empty(); ++i) {
    const std::string key = fmt::format("key {}", i);
    const store::StripePlace place = session->stripe_of(key);
    if (place.rank == 0 && place.stripe < 2) keys[place.stripe] = key;
  }
  return keys;
}

/// Holds a key's stripe for this long, from the time at which all agents have arrived.
void hold(PlainStore& store, SimBarrier& barrier, std::uint32_t me, std::string_view key,
          double held_ns) {
  const std::array<std::string_view, 1> mine{key};
  const auto body = [&](std::span<store::ElementDraft>) {
    barrier.arrive_and_wait(me);
    store.fabric().spend(me, held_ns);
    return true;
  };
  if (!store.session(me)->modify_all(mine, body, {}).ok()) barrier.fail("a holder");
}

}  // namespace

TEST_CASE("store in simulation: an operation on several keys has one timeout for all of them") {
  // The first stripe becomes free shortly before the timeout, the second one long after it.
  constexpr std::array<double, 2> kHeldNs = {0.9 * kTimeoutNs, 3 * kTimeoutNs};
  PlainStore store({.lock = "d-mcs", .ranks = 3, .machine = shaken_machine(1, 0)});
  const auto keys = keys_of_two_stripes(store);
  const SimTeam team(store.fabric());
  auto barrier = team.barrier();
  double waited_ns = 0;
  team.run([&](std::uint32_t me) {
    if (me < kHeldNs.size()) return hold(store, barrier, me, keys[me], kHeldNs[me]);
    const auto session = store.session(me);
    barrier.arrive_and_wait(me);
    const std::array<std::string_view, 2> both{keys[0], keys[1]};
    std::vector<std::optional<std::string>> values;
    const std::uint64_t began = session->endpoint().now_ns();
    if (session->get_all(both, values) != Code::kTimeout) barrier.fail("the stripes were free");
    waited_ns = static_cast<double>(session->endpoint().now_ns() - began);
  });
  CHECK(barrier.failure() == "");
  CHECK(waited_ns > 0.99 * kTimeoutNs);
  CHECK(waited_ns < 1.01 * kTimeoutNs);
}

TEST_CASE("store in simulation: an operation on one key has one timeout for all its ways") {
  // The owner does not serve, so the call is taken back, and then the stripe's lock is not free.
  constexpr std::chrono::milliseconds kTimeout(100);
  constexpr double kNs = 100e6;
  for (const bool writes : {false, true}) {
    CAPTURE(writes);
    PlainStore store({.lock = "d-mcs",
                      .ranks = 2,
                      .machine = shaken_machine(1, 0),
                      .memory_bytes = 4 * store::kMinMemoryBytes,
                      .call_slots = 1,
                      .timeout = kTimeout});
    const auto keys = keys_of_two_stripes(store);
    const SimTeam team(store.fabric());
    auto barrier = team.barrier();
    double waited_ns = 0;
    team.run([&](std::uint32_t me) {
      if (me == 0) return hold(store, barrier, me, keys[0], 3 * kNs);
      const auto session = store.session(me);
      barrier.arrive_and_wait(me);
      const std::uint64_t began = session->endpoint().now_ns();
      std::string value;
      const Status status = writes ? session->put(keys[0], "v", {}) : session->get(keys[0], value);
      if (status != Code::kTimeout) barrier.fail("the stripe was free");
      waited_ns = static_cast<double>(session->endpoint().now_ns() - began);
    });
    CHECK(barrier.failure() == "");
    CHECK(waited_ns > 0.99 * kNs);
    CHECK(waited_ns < 1.01 * kNs);
  }
}
