// ALock in virtual time: its messages over the network, and their times.
#include <catch2/catch.hpp>
#include <chrono>
#include <numeric>
#include <utility>
#include <vector>

#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/fabric/counting_endpoint.h"
#include "tests/sim/sim_fixture.h"

using namespace keyway;

namespace {

using Counted = fabric::CountingEndpoint<fabric::SimEndpoint>;

// `agents` of two nodes of two ranks take a lock of either node over and over; operations by class.
fabric::OpCounts counts_of(const char* kind) {
  fabric::SegmentLayout layout;
  const std::uint64_t lines = layout.reserve(locks::kLockLineBytes);
  const auto nodes = locks::NodeRegion::reserve(layout, 4, 2);
  REQUIRE(layout.size() <= fabric::kReservedBytes + 4096);
  test::SimFixture fixture(test::plain_machine(), {0, 0, 1, 1});
  const auto lock = *locks::AnyLock::make(kind);
  fabric::OpCounts all;
  std::vector<test::SimFixture::Part> parts;
  for (std::uint32_t home = 0; home < 4; ++home) {
    parts.push_back({home, [&, home](fabric::SimEndpoint& ep) {
                       Counted counted(std::move(ep));
                       locks::LockAgent<Counted> agent(counted, nodes);
                       for (std::uint32_t i = 0; i < 60; ++i) {
                         const locks::LockSite site{.line = {(home + i / 7) % 4, lines}};
                         const auto mode = i % 3 == 0 ? locks::Mode::kRead : locks::Mode::kWrite;
                         const auto deadline = i % 5 == 0
                                                   ? Deadline::within(std::chrono::microseconds(2))
                                                   : Deadline::never();
                         auto grant = i % 4 == 0 ? lock.try_acquire(agent, site, mode)
                                                 : lock.acquire(agent, site, mode, deadline);
                         if (!grant.ok()) continue;
                         locks::fencing_token(agent, site, *grant);
                         lock.release(agent, site, *grant);
                       }
                       all += counted.counts();
                     }});
  }
  fixture.run(parts);
  return all;
}

// Operations of class rma within a node: the last two counters, the node's and the agent's own
// rank's.
std::uint64_t loopback_of(const fabric::OpCounts& counts) {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < fabric::OpCounts::kKinds; ++k) {
    const auto& row = counts.of(fabric::sim::OpClass::kRma, static_cast<fabric::sim::OpKind>(k));
    sum += row[row.size() - 1] + row[row.size() - 2];
  }
  return sum;
}

// Operations of class rma.
std::uint64_t sent_of(const fabric::OpCounts& counts) {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < fabric::OpCounts::kKinds; ++k) {
    const auto& row = counts.of(fabric::sim::OpClass::kRma, static_cast<fabric::sim::OpKind>(k));
    sum = std::accumulate(row.begin(), row.end(), sum);
  }
  return sum;
}

// All atomics of class rma of agents on 32 nodes that take a lock at rank 0 ten times each at once.
std::uint64_t atomics_at_one_lock(const char* kind) {
  constexpr std::uint32_t kNodes = 32;
  const locks::NodeRegion nodes{fabric::kReservedBytes + 64, 1, kNodes};
  const locks::LockSite site{.line = {0, fabric::kReservedBytes}};
  const auto lock = *locks::AnyLock::make(kind);
  fabric::OpCounts all;
  std::vector<std::uint32_t> places;
  std::vector<test::SimFixture::Part> parts;
  for (std::uint32_t node = 0; node < kNodes; ++node) {
    places.push_back(node);
    parts.push_back({node, [&](fabric::SimEndpoint& ep) {
                       Counted counted(std::move(ep));
                       locks::LockAgent<Counted> agent(counted, nodes);
                       for (std::uint32_t i = 0; i < 10; ++i) {
                         auto grant =
                             lock.acquire(agent, site, locks::Mode::kWrite, Deadline::never());
                         REQUIRE(grant.ok());
                         lock.release(agent, site, *grant);
                       }
                       all += counted.counts();
                     }});
  }
  test::SimFixture fixture(test::plain_machine(), places);
  fixture.run(parts);
  std::uint64_t sum = 0;
  for (const auto op : {fabric::sim::OpKind::kSwap, fabric::sim::OpKind::kCompareSwap}) {
    for (const std::uint64_t count : all.of(fabric::sim::OpClass::kRma, op)) sum += count;
  }
  return sum;
}

}  // namespace

TEST_CASE("alock: nothing goes to local memory through the network card") {
  CHECK(loopback_of(counts_of("alock")) == 0);
  CHECK(loopback_of(counts_of("alock-rw")) == 0);
  CHECK(loopback_of(counts_of("rdma-mcs")) > 0);
  CHECK(loopback_of(counts_of("rdma-spin")) > 0);
}

TEST_CASE(
    "alock: an uncontended remote acquire takes two round trips where queue pairs keep order") {
  auto machine = test::plain_machine();
  machine.semantics.ordered = true;
  test::SimFixture fixture(machine, {0, 1});
  const locks::LockSite site{.line = {1, fabric::kReservedBytes}};
  const locks::NodeRegion nodes{fabric::kReservedBytes + 64, 2, 2};
  std::uint64_t took = 0;
  fixture.run({{0, [&](fabric::SimEndpoint& ep) {
                  locks::LockAgent<fabric::SimEndpoint> agent(ep, nodes);
                  const auto lock = *locks::AnyLock::make("alock");
                  const std::uint64_t begun = ep.now_ns();
                  auto grant = lock.acquire(agent, site, locks::Mode::kWrite, Deadline::never());
                  took = ep.now_ns() - begun;
                  REQUIRE(grant.ok());
                  lock.release(agent, site, *grant);
                }}});
  // The node's word, the swap of the tail, and the victim's store with the poll after it.
  CHECK(took == 3 + (40 + 1000 + 200 + 1000) + (40 + 1000 + 50 + 60 + 1000));
}

TEST_CASE("alock: who may leave a queue makes itself known by one message and is granted by two") {
  test::SimFixture fixture(test::plain_machine(), {0, 1, 2});
  const locks::LockSite site{.line = {0, fabric::kReservedBytes}};
  const locks::NodeRegion nodes{fabric::kReservedBytes + 64, 2, 2};
  const auto lock = *locks::AnyLock::make("alock");
  std::uint64_t to_join = 0;
  std::uint64_t to_hand_over = 0;
  const auto before = [&](fabric::SimEndpoint& ep) {
    Counted counted(std::move(ep));
    locks::LockAgent<Counted> agent(counted, nodes);
    auto grant = lock.acquire(agent, site, locks::Mode::kWrite, Deadline::never());
    REQUIRE(grant.ok());
    fixture.spend(100'000);
    const std::uint64_t sent = sent_of(counted.counts());
    lock.release(agent, site, *grant);
    to_hand_over = sent_of(counted.counts()) - sent;
  };
  const auto behind = [&](fabric::SimEndpoint& ep) {
    Counted counted(std::move(ep));
    locks::LockAgent<Counted> agent(counted, nodes);
    fixture.spend(50'000);
    auto grant = lock.acquire(agent, site, locks::Mode::kWrite,
                              Deadline::within(std::chrono::milliseconds(1)));
    REQUIRE(grant.ok());
    to_join = sent_of(counted.counts());
    lock.release(agent, site, *grant);
  };
  fixture.run({{1, before}, {2, behind}});
  // The tail's swap, and the link with the turn. Then the holder's name, which nobody waits for.
  CHECK(to_join == 3);
  // The grant, and a look whether the waiter has left.
  CHECK(to_hand_over == 2);
}

TEST_CASE("alock, rdma-mcs: who joins by compare-and-swap backs off, so that few of them fail") {
  const std::uint64_t swapped = atomics_at_one_lock("alock");
  CHECK(atomics_at_one_lock("alock:swap=off") < 4 * swapped);
  CHECK(atomics_at_one_lock("alock:swap=off,join_backoff_ns=0") > 4 * swapped);
  CHECK(atomics_at_one_lock("rdma-mcs") < 4 * atomics_at_one_lock("rdma-mcs:swap=on"));
}

TEST_CASE("rdma-mcs: two operations through the card take and release a lock of the own rank") {
  test::SimFixture fixture(test::plain_machine(), {0, 1});
  const locks::LockSite site{.line = {0, fabric::kReservedBytes}};
  const locks::NodeRegion nodes{fabric::kReservedBytes + 64, 2, 2};
  fixture.run({{0, [&](fabric::SimEndpoint& ep) {
                  Counted counted(std::move(ep));
                  locks::LockAgent<Counted> agent(counted, nodes);
                  const auto lock = *locks::AnyLock::make("rdma-mcs");
                  auto grant = lock.acquire(agent, site, locks::Mode::kWrite, Deadline::never());
                  REQUIRE(grant.ok());
                  lock.release(agent, site, *grant);
                  CHECK(loopback_of(counted.counts()) == 2);
                }}});
}

TEST_CASE("alock: a budget of zero is refused, by a sentence that names the lever") {
  for (const char* kind :
       {"alock:local_budget=0", "alock:remote_budget=0", "alock-rw:local_budget=0"}) {
    const auto made = locks::AnyLock::make(kind);
    REQUIRE_FALSE(made.ok());
    CHECK(made.status().message().find("budget=0") != std::string_view::npos);
  }
}
