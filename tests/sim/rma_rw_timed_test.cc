// RMA-RW in virtual time: the messages of a writer.
#include <catch2/catch.hpp>

#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/distributed/satellite.h"
#include "keyway/locks/fabric/counting_endpoint.h"
#include "tests/sim/sim_fixture.h"

using namespace keyway;

namespace {

using Counted = fabric::CountingEndpoint<fabric::SimEndpoint>;

// Operations of this kind and class rma with the other node.
std::uint64_t far_of(const Counted& ep, fabric::sim::OpKind kind) {
  const auto& row = ep.counts().of(fabric::sim::OpClass::kRma, kind);
  return row[0];
}

}  // namespace

TEST_CASE("rma-rw: a writer closes a counter that no reader has used without a look") {
  fabric::SegmentLayout layout;
  const std::uint64_t line = layout.reserve(locks::kLockLineBytes);
  const std::uint64_t satellites = layout.reserve(locks::kMaxSatelliteBytes);
  const auto nodes = locks::NodeRegion::reserve(layout, 2, 4);
  REQUIRE(layout.size() <= fabric::kReservedBytes + 4096);
  test::SimFixture fixture(test::plain_machine(), {0, 1});
  const locks::LockSite site{.line = {0, line}, .group = {}, .satellites = satellites};
  const auto lock = *locks::AnyLock::make("rma-rw");

  bool has_read = false;
  const auto reader = [&](fabric::SimEndpoint& ep) {
    locks::LockAgent<fabric::SimEndpoint> agent(ep, nodes);
    fixture.spend(20'000'000);
    auto grant = lock.acquire(agent, site, locks::Mode::kRead, Deadline::never());
    REQUIRE(grant.ok());
    lock.release(agent, site, *grant);
    has_read = true;
  };
  const auto writer = [&](fabric::SimEndpoint& ep) {
    Counted counted(std::move(ep));
    locks::LockAgent<Counted> agent(counted, nodes);
    const auto write = [&] {
      auto grant = lock.acquire(agent, site, locks::Mode::kWrite, Deadline::never());
      REQUIRE(grant.ok());
      lock.release(agent, site, *grant);
    };
    const auto closings = [&] { return far_of(counted, fabric::sim::OpKind::kCompareSwap); };
    const auto looks = [&] { return far_of(counted, fabric::sim::OpKind::kLoad); };
    for (std::uint64_t i = 1; i <= 300; ++i) {  // through the phases, which wrap around
      write();
      REQUIRE(closings() == i);
    }
    CHECK(looks() == 1);  // the first time
    fixture.spend(40'000'000);
    REQUIRE(has_read);
    write();  // the attempt that fails is the look
    CHECK(closings() == 302);
    CHECK(looks() == 1);
    write();
    CHECK(closings() == 303);
    CHECK(looks() == 1);
  };
  fixture.run({{1, reader}, {0, writer}});
}
