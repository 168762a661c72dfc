// H6: the memory that agents keep between operations, and the rest of a heap for one of them when
// all the others are idle.
#include <catch2/catch.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "heap_fixture.h"
#include "keyway/locks/base/rng.h"

using namespace keyway;
using namespace keyway::store;
using namespace keyway::test;

namespace {

constexpr std::uint32_t kSizes = 16;

/// Sizes of as many classes.
std::uint64_t size_of(std::uint32_t i) { return 40 + 60 * i; }

/// Chunks that are not free.
std::uint64_t taken_chunks(HeapFixture& fixture, HeapAgent& agent) {
  return fixture.geometry.chunks() - agent.heap.report(0).free_chunks;
}

/// Takes blocks of all classes, and gives them back in another order.
void come_and_go(HeapAgent& agent, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::pair<Block, std::uint64_t>> mine;
  for (std::uint32_t i = 0; i < 400; ++i) {
    const std::uint64_t bytes = size_of(static_cast<std::uint32_t>(rng.below(kSizes)));
    if (const auto block = agent.heap.allocate(0, bytes)) mine.emplace_back(*block, bytes);
  }
  while (!mine.empty()) {
    std::swap(mine[rng.below(mine.size())], mine.back());
    agent.heap.free(0, mine.back().first, mine.back().second);
    mine.pop_back();
  }
}

}  // namespace

TEST_CASE("heap: H6, all agents together may keep a part of the heap") {
  for (const std::uint32_t agents : {1u, 3u, 8u, 64u, 256u}) {
    for (const std::uint32_t ranks : {1u, 4u}) {
      CAPTURE(agents, ranks);
      HeapFixture fixture(16 << 20, ranks, agents);
      const auto agent = fixture.agent();
      CHECK(agent->heap.most_held() * ranks * agents * kHeldShare <= fixture.geometry.chunks());
      CHECK(agent->heap.most_held() <= kMaxHeld);
    }
  }
}

TEST_CASE("heap: H6, an agent that has freed everything keeps few chunks") {
  for (const std::uint32_t agents : {1u, 2u, 4u, 64u}) {
    HeapFixture fixture(2 << 20, 1, agents);
    const auto agent = fixture.agent();
    CAPTURE(agents, agent->heap.most_held());
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      come_and_go(*agent, seed);
      CHECK(taken_chunks(fixture, *agent) <= agent->heap.most_held());
      fixture.check_at_rest(*agent);
      CHECK(agent->heap.leased_bytes(0) + agent->heap.report(0).free_bytes ==
            fixture.geometry.heap_bytes());
    }
  }
}

TEST_CASE("heap: H6, what is set aside beyond it goes back with a trim") {
  for (const std::uint32_t agents : {1u, 64u}) {
    HeapFixture fixture(2 << 20, 1, agents);
    const auto agent = fixture.agent();
    CAPTURE(agents, agent->heap.most_held());
    for (std::uint32_t i = 0; i < kSizes; ++i) REQUIRE(agent->heap.ensure(0, size_of(i), 20));
    for (std::uint32_t i = 0; i < kSizes; ++i) CHECK(agent->heap.ready(0, size_of(i), 20));
    REQUIRE(agent->heap.ensure(0, 3 * kChunkBytes, 2));
    agent->heap.trim();
    CHECK(taken_chunks(fixture, *agent) <= agent->heap.most_held());
    fixture.check_at_rest(*agent);
  }
}

TEST_CASE("heap: H6, an agent that may keep nothing leases what it needs") {
  HeapFixture fixture(2 << 20, 1, 64);
  const auto agent = fixture.agent();
  const auto other = fixture.agent();
  REQUIRE(agent->heap.most_held() == 0);
  const auto block = agent->heap.allocate(0, 100);
  REQUIRE(block);
  CHECK(agent->heap.leased_bytes(0) == 0);
  // The rest of the chunk is for all agents.
  const auto next = other->heap.allocate(0, 100);
  REQUIRE(next);
  CHECK(fixture.geometry.chunk_of(next->offset) == fixture.geometry.chunk_of(block->offset));
  agent->heap.free(0, *block, 100);
  other->heap.free(0, *next, 100);
  CHECK(agent->heap.report(0).free_chunks == fixture.geometry.chunks());
}

TEST_CASE("heap: H6, one agent fills the heap while all others are idle") {
  constexpr std::uint32_t kAgents = 128;
  for (const std::uint64_t memory_bytes :
       {8u << 20, 64u << 20}) {  // they may keep nothing, or some
    HeapFixture fixture(memory_bytes, 1, kAgents);
    std::vector<std::unique_ptr<HeapAgent>> idle;
    for (std::uint32_t i = 0; i < kAgents; ++i) {
      idle.push_back(fixture.agent());
      come_and_go(*idle.back(), i);
    }
    const auto agent = fixture.agent();
    CAPTURE(memory_bytes, agent->heap.most_held());
    std::uint64_t taken = 0;
    while (const auto block = agent->heap.allocate(0, 3000))
      taken += agent->heap.span(*block, 3000);
    CHECK(taken >= fixture.geometry.heap_bytes() / kHeldShare * (kHeldShare - 1));
  }
}
