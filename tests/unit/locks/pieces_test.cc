// The pieces of the queued kinds and of every dump: NodeRegion, NodePool, WaiterLinks,
// SeenVersions, LockDump, LockStats.
#include <catch2/catch.hpp>

#include <bit>
#include <set>

#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/distributed/satellite.h"
#include "keyway/locks/distributed/waiter_link.h"
#include "keyway/locks/fabric/shm/shm_fabric.h"
#include "tests/conformance/lock_conformance.h"
#include "tests/support/child.h"

namespace keyway::locks {
namespace {

using fabric::Address;
using fabric::AgentId;
using fabric::rma;
using fabric::ShmEndpoint;
using fabric::ShmFabric;

struct Machine {
  explicit Machine(std::uint32_t nodes_per_agent) {
    fabric::SegmentLayout layout;
    region = NodeRegion::reserve(layout, kAgents, nodes_per_agent);
    shm.emplace(*ShmFabric::create(
        {.ranks = 2, .segment_bytes = layout.size(), .agents_per_rank = kAgents}));
  }
  static constexpr std::uint32_t kAgents = 3;
  NodeRegion region;
  std::optional<ShmFabric> shm;
};

TEST_CASE("a site without satellites is refused where a kind needs them, in every build") {
  const LockSite site{.line = {0, fabric::kReservedBytes}};
  CHECK(test::run_in_child([&] { (void)counter_word(site, 1); }).signal == SIGABRT);
  CHECK(test::run_in_child([&] { (void)tail_word(site, 1, 2); }).signal == SIGABRT);
}

TEST_CASE("every agent has nodes of its own, a cache line each, which name it") {
  const Machine machine(4);
  std::set<std::uint64_t> seen;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    for (std::uint32_t slot = 0; slot < Machine::kAgents; ++slot) {
      for (std::uint32_t i = 0; i < 4; ++i) {
        const Address node = machine.region.node({rank, slot}, i);
        CHECK(node.offset() % fabric::kCacheLine == 0);
        CHECK(machine.region.owner(node) == AgentId{rank, slot});
        CHECK(seen.insert(node.word()).second);
      }
    }
  }
}

TEST_CASE("a region tells its nodes from other places") {
  const NodeRegion region{4096, 4, 3};
  for (std::uint64_t i = 0; i < region.nodes_per_rank(); ++i) {
    const Address node = region.numbered(1, i);
    CHECK(region.has(node));
    CHECK(region.number(node) == i);
    CHECK_FALSE(region.has(node + 8));
  }
  CHECK_FALSE(region.has({1, 4096 - kNodeBytes}));
  CHECK_FALSE(region.has({1, 4096 + 12 * kNodeBytes}));
}

TEST_CASE("a waiter's link is one word with the node and the turn") {
  for (const std::uint32_t agents : {1u, 3u, 64u, 65535u}) {
    const NodeRegion region{4096, 256, agents};
    const WaiterLinks links(region);
    const std::uint64_t last_turn = (1ULL << (48 - std::bit_width(region.nodes_per_rank()))) - 1;
    CHECK(last_turn >= (1ULL << 24) - 1);
    CHECK(links.next_turn(0) == 1);
    CHECK(links.next_turn(last_turn - 1) == last_turn);
    CHECK(links.next_turn(last_turn) == 1);
    std::set<std::uint64_t> words;
    for (const std::uint32_t rank : {0u, 1u, 65535u}) {
      for (const std::uint64_t number : {std::uint64_t{0}, region.nodes_per_rank() - 1}) {
        for (const std::uint64_t turn : {std::uint64_t{0}, std::uint64_t{1}, last_turn}) {
          const Address node = region.numbered(rank, number);
          const std::uint64_t word = links.word({node, turn});
          CHECK(word != 0);
          CHECK(words.insert(word).second);
          CHECK(links.link(word).node == node);
          CHECK(links.link(word).turn == turn);
        }
      }
    }
  }
}

TEST_CASE("versions of locks at the same offset of many ranks are all remembered") {
  SeenVersions versions;
  for (std::uint32_t rank = 0; rank < 16; ++rank) versions.learn({rank, 8192}, 100 + rank);
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    CHECK(versions.of({rank, 8192}) == 100 + rank);
  }
  versions.learn({3, 8192}, 7);
  CHECK(versions.of({3, 8192}) == 7);
  CHECK(versions.of({3, 4096}) == 0);
}

TEST_CASE("N1: a pool hands out each node once, and an abandoned one when it is idle again") {
  Machine machine(2);
  auto ep = *machine.shm->endpoint(1);
  NodePool<ShmEndpoint> pool(ep, machine.region);
  const auto first = *pool.take();
  const auto second = *pool.take();
  CHECK(first != second);
  const auto none = pool.take();
  CHECK(none.code() == Code::kUnavailable);
  CHECK(none.status().message().find("nodes_per_agent") != std::string_view::npos);
  ep.store(rma, pool.address(first) + kStatusOffset, kNodeAbandoned);
  pool.abandon(first);
  CHECK_FALSE(pool.take().ok());
  pool.recycle(second);
  CHECK(*pool.take() == second);
  CHECK_FALSE(pool.take().ok());
  ep.store(rma, pool.address(first) + kStatusOffset, kNodeIdle);  // a releaser stepped over it
  CHECK(*pool.take() == first);
}

TEST_CASE("N2: the next agent of a slot does not get nodes that are still queued") {
  Machine machine(2);
  Address queued;
  {
    auto ep = *machine.shm->endpoint(0);
    NodePool<ShmEndpoint> pool(ep, machine.region);
    queued = pool.address(*pool.take());
    ep.store(rma, queued + kStatusOffset, kNodeAbandoned);
  }
  auto ep = *machine.shm->endpoint(0);
  NodePool<ShmEndpoint> pool(ep, machine.region);
  CHECK(pool.address(*pool.take()) != queued);
  CHECK_FALSE(pool.take().ok());
  ep.store(rma, queued + kStatusOffset, kNodeIdle);
  CHECK(pool.address(*pool.take()) == queued);
}

TEST_CASE("a dump reads as one line") {
  LockDump dump{.kind = "gbh", .line = Address(2, 0x1240)};
  CHECK(dump.describe() == "gbh at rank 2 +0x1240: free");
  dump.readers = 1;
  CHECK(dump.describe() == "gbh at rank 2 +0x1240: read by 1 agent");
  dump.readers = 0;
  dump.all_holders = 2;
  CHECK(dump.describe() == "gbh at rank 2 +0x1240: free, LOCKALL held by 2 agents");
  dump.all_holders = 0;
  dump.write_held = true;
  CHECK(dump.describe() ==
        "gbh at rank 2 +0x1240: written by an agent not yet named (last token 0)");
  dump.holder_known = true;
  dump.holder = {1, 3};
  dump.token = 17;
  dump.queue = {{0, 1}, {2, 0}};
  const std::string text =
      "gbh at rank 2 +0x1240: written by agent 1.3 (last token 17), waiting: 0.1 2.0";
  CHECK(dump.describe() == text);
  CHECK(timed_out(dump) == Code::kTimeout);
  CHECK(timed_out(dump).message().find(text) != std::string_view::npos);
}

TEST_CASE("statistics add up field by field") {
  LockStats sum{1, 2, 3, 4, 5, {0, 6, 7}};
  sum += LockStats{10, 20, 30, 40, 50, {0, 60, 70}};
  CHECK(sum.reads == 11);
  CHECK(sum.writes == 22);
  CHECK(sum.contended == 33);
  CHECK(sum.try_failures == 44);
  CHECK(sum.timeouts == 55);
  CHECK(sum.handovers_at[1] == 66);
  CHECK(sum.handovers_at[2] == 77);
  CHECK(sum.handovers() == 143);
}

TEST_CASE("LOCKALL needs a group and a kind that keeps the master word") {
  Machine machine(1);
  auto ep = *machine.shm->endpoint(0);
  LockAgent<ShmEndpoint> agent(ep, machine.region);
  const auto off = *FompiRw::make(*LockParams::parse("gbh:lockall=off"));
  const auto on = *FompiRw::make(*LockParams::parse("gbh"));
  CHECK(off.acquire_all(agent, Address(0, 64), Deadline::now()) == Code::kUnsupported);
  CHECK(on.acquire_all(agent, Address(), Deadline::now()) == Code::kUnsupported);
}

// A kind that has no line in the conformance table would go unchecked.
TEST_CASE("every kind is in the conformance table") {
  for (const auto name : AnyLock::kNames) {
    const auto listed = [&](std::string_view kind) {
      return kind.substr(0, kind.find(':')) == name;
    };
    CHECK(std::any_of(conformance::kKinds.begin(), conformance::kKinds.end(), listed));
  }
}

}  // namespace
}  // namespace keyway::locks
