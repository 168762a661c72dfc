// RMA-MCS and D-MCS in virtual time: the messages of a hand-over.
#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/distributed/satellite.h"
#include "keyway/locks/fabric/counting_endpoint.h"
#include "tests/sim/sim_fixture.h"

using namespace keyway;

namespace {

using Counted = fabric::CountingEndpoint<fabric::SimEndpoint>;

// Operations of class rma: all, and those to the agent's own rank, which the last counter has.
struct Sent {
  std::uint64_t all = 0;
  std::uint64_t to_itself = 0;
};
Sent sent(const fabric::OpCounts& counts) {
  Sent sum;
  for (std::size_t k = 0; k < fabric::OpCounts::kKinds; ++k) {
    const auto& row = counts.of(fabric::sim::OpClass::kRma, static_cast<fabric::sim::OpKind>(k));
    sum.all = std::accumulate(row.begin(), row.end(), sum.all);
    sum.to_itself += row.back();
  }
  return sum;
}

struct Seen {
  std::uint64_t releases_in_node = 0;  // those that handed the lock to the other agent of the node
  std::uint64_t sent_by_them = 0;      // operations of class rma, to anywhere
  std::uint64_t to_itself = 0;         // in all calls: operations of class rma to the own rank
};

// The two agents of a node take turns at a lock that lives on the other node.
Seen seen_with(const char* kind) {
  fabric::SegmentLayout layout;
  const std::uint64_t line = layout.reserve(locks::kLockLineBytes);
  const std::uint64_t satellites = layout.reserve(locks::kMaxSatelliteBytes);
  const auto nodes = locks::NodeRegion::reserve(layout, 2, 4);
  REQUIRE(layout.size() <= fabric::kReservedBytes + 4096);
  test::SimFixture fixture(test::plain_machine(), {0, 0, 1, 1});
  const locks::LockSite site{.line = {2, line}, .group = {}, .satellites = satellites};
  const auto lock = *locks::AnyLock::make(kind);
  Seen seen;
  std::vector<test::SimFixture::Part> parts;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    parts.push_back(
        {rank, [&, rank](fabric::SimEndpoint& ep) {
           Counted counted(std::move(ep));
           locks::LockAgent<Counted> agent(counted, nodes);
           const auto handed = [&] { return agent.stats.handovers_at[agent.local_level]; };
           for (std::uint32_t i = 0; i < 20; ++i) {
             auto grant = lock.acquire(agent, site, locks::Mode::kWrite, Deadline::never());
             REQUIRE(grant.ok());
             fixture.spend(20'000);  // so that the other one is in the queue
             const std::uint64_t before = handed();
             const std::uint64_t all = sent(counted.counts()).all;
             lock.release(agent, site, *grant);
             if (handed() == before) continue;
             ++seen.releases_in_node;
             seen.sent_by_them += sent(counted.counts()).all - all;
           }
           seen.to_itself += sent(counted.counts()).to_itself;
         }});
  }
  fixture.run(parts);
  return seen;
}

}  // namespace

TEST_CASE("rma-mcs: who hands the lock on within its node sends nothing over the network") {
  const Seen seen = seen_with("rma-mcs:t_l=5");
  CHECK(seen.releases_in_node >= 30);
  CHECK(seen.sent_by_them == 0);
}

TEST_CASE("queues: nobody goes through its card to its own queue node, in RDMA MCS neither") {
  CHECK(seen_with("d-mcs").to_itself == 0);
  CHECK(seen_with("rma-mcs:t_l=5").to_itself == 0);
  CHECK(seen_with("rdma-mcs").to_itself == 0);
}
