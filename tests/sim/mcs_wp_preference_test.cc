// MCS-WP prefers writers: a reader that comes after a waiting writer is granted after it.
#include <catch2/catch.hpp>
#include <string>

#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/distributed/mcs_wp.h"
#include "keyway/locks/fabric/sim/sim_fabric.h"
#include "tests/support/shaken_machine.h"

using namespace keyway;

TEST_CASE("mcs-wp: who asks to read while a writer waits comes after it") {
  fabric::SegmentLayout layout;
  const locks::LockSite site{.line = {1, layout.reserve(locks::kLockLineBytes)}};
  const auto nodes = locks::NodeRegion::reserve(layout, 2, 4);
  auto fabric = std::move(*fabric::SimFabric::create({.machine = test::shaken_machine(2, 2000),
                                                      .ranks = 3,
                                                      .segment_bytes = layout.size(),
                                                      .agents_per_rank = 2}));
  const locks::McsWp lock;
  std::string order;
  bool reading = false, tried = false;
  fabric.run({0, 1, 2}, [&](std::uint32_t i) {
    auto ep = std::move(*fabric.endpoint(i));
    locks::LockAgent<fabric::SimEndpoint> agent(ep, nodes);
    const auto until = [&](auto&& condition) {
      ep.retry_until(condition, fabric::Backoff{1000, 20'000}, Deadline::never());
    };
    const auto waiting = [&] { return lock.dump(agent, site).queue.size(); };
    const auto use = [&](locks::Mode mode, char name) {
      auto grant = lock.acquire(agent, site, mode, Deadline::never());
      REQUIRE(grant.ok());
      order += name;
      lock.release(agent, site, *grant);
    };
    if (i == 0) {  // reads until both others wait
      auto grant = lock.acquire(agent, site, locks::Mode::kRead, Deadline::never());
      REQUIRE(grant.ok());
      reading = true;
      until([&] { return tried && waiting() == 2; });
      CHECK(lock.dump(agent, site).readers == 1);
      lock.release(agent, site, *grant);
    } else if (i == 1) {
      until([&] { return reading; });
      use(locks::Mode::kWrite, 'w');
    } else {
      until([&] { return waiting() == 1; });
      CHECK(lock.try_acquire(agent, site, locks::Mode::kRead).code() == Code::kBusy);
      tried = true;
      use(locks::Mode::kRead, 'r');
    }
  });
  CHECK(order == "wr");
}
