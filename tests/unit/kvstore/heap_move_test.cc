// H7: chunks that are emptied become free, and no block is lost or handed out twice, under any
// concurrent operations.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "heap_fixture.h"
#include "keyway/kvstore/volume/heap_move.h"

using namespace keyway;
using namespace keyway::store;
using namespace keyway::test;

namespace {

constexpr std::uint64_t kBytes = 100;

/// Frees all of these blocks but one in each chunk. Returns the blocks that are left.
std::vector<Block> thin_out(HeapFixture& fixture, HeapAgent& agent, const std::vector<Block>& all) {
  std::set<std::uint64_t> seen;
  std::vector<Block> left;
  for (const Block& block : all) {
    if (seen.insert(fixture.geometry.chunk_of(block.offset)).second) {
      left.push_back(block);
    } else {
      agent.heap.free(0, block, kBytes);
    }
  }
  agent.heap.return_all();
  return left;
}

/// Live blocks of a full heap, of which one in each chunk is left.
std::vector<Block> sparse(HeapFixture& fixture, HeapAgent& agent) {
  std::vector<Block> all;
  while (const auto block = agent.heap.allocate(0, kBytes)) all.push_back(*block);
  std::vector<Block> left = thin_out(fixture, agent, all);
  REQUIRE(left.size() == fixture.geometry.chunks());
  return left;
}

/// Moves blocks as a session does, without a table. Returns how many have moved.
std::uint64_t move_all(HeapAgent& agent, std::vector<Block>& blocks) {
  std::uint64_t moved = 0;
  for (Block& block : blocks) {
    if (agent.heap.all_moved()) break;
    if (!agent.heap.is_leaving(block)) continue;
    const auto to = agent.heap.destination(block.size_class);
    if (!to) continue;
    CHECK_FALSE(agent.heap.is_leaving(*to));
    agent.heap.moved(std::exchange(block, *to));
    ++moved;
  }
  return moved;
}

/// Another agent frees a block of a chunk that this agent is emptying.
void free_leaving(HeapAgent& agent, std::vector<Block>& live, HeapAgent& other) {
  const auto leaving = std::find_if(
      live.begin(), live.end(), [&](const Block& block) { return agent.heap.is_leaving(block); });
  REQUIRE(leaving != live.end());
  other.heap.free(0, *leaving, kBytes);
  live.erase(leaving);
}

/// Checks H3, and that no two blocks are the same.
void check(HeapFixture& fixture, HeapAgent& agent, const std::vector<Block>& live,
           std::uint64_t more_bytes = 0) {
  std::set<std::uint64_t> offsets;
  std::uint64_t bytes = more_bytes;
  for (const Block& block : live) {
    REQUIRE(offsets.insert(block.offset).second);
    bytes += agent.heap.span(block, kBytes);
  }
  fixture.check_at_rest(agent);
  CHECK(bytes + agent.heap.leased_bytes(0) + agent.heap.report(0).free_bytes ==
        fixture.geometry.heap_bytes());
}

}  // namespace

TEST_CASE("heap: what an allocation lacked is known once") {
  HeapFixture fixture;
  const auto agent = fixture.agent();
  CHECK_FALSE(agent->heap.take_shortage());
  auto live = sparse(fixture, *agent);
  agent->heap.take_shortage();
  CHECK_FALSE(agent->heap.allocate(0, 5000));
  const auto one = agent->heap.take_shortage();
  REQUIRE(one);
  CHECK(one->chunks == 1);
  CHECK_FALSE(agent->heap.take_shortage());
  CHECK_FALSE(agent->heap.allocate(0, 3 * kChunkBytes));
  CHECK(agent->heap.take_shortage()->chunks == 3);
  CHECK_FALSE(agent->heap.ensure(0, 5000, 7));
  CHECK(agent->heap.take_shortage()->chunks == 1);
}

TEST_CASE("heap: H7, emptied chunks are free for another class") {
  for (const std::uint32_t agents : {1u, 64u}) {
    HeapFixture fixture(2 << 20, 1, agents);
    const auto agent = fixture.agent();
    auto live = sparse(fixture, *agent);
    REQUIRE_FALSE(agent->heap.allocate(0, 5000));
    REQUIRE(agent->heap.begin_move(*agent->heap.take_shortage()));
    CHECK(move_all(*agent, live) == fixture.geometry.chunks() / 2);
    CHECK(agent->heap.all_moved());
    CHECK(agent->heap.end_move());
    agent->heap.trim();
    CHECK(agent->heap.report(0).free_chunks == fixture.geometry.chunks() / 2);
    check(fixture, *agent, live);
    // Again and again, until all of them lie in one or two chunks.
    while (agent->heap.begin_move({0, 1})) {
      move_all(*agent, live);
      REQUIRE(agent->heap.end_move());
    }
    agent->heap.return_all();
    CHECK(agent->heap.report(0).free_chunks + 2 >= fixture.geometry.chunks());
    check(fixture, *agent, live);
  }
}

TEST_CASE("heap: H7, a run is made of neighbours that are emptied") {
  HeapFixture fixture;
  const auto agent = fixture.agent();
  auto live = sparse(fixture, *agent);
  constexpr std::uint64_t kRunBytes = 5 * kChunkBytes;
  REQUIRE_FALSE(agent->heap.allocate(0, kRunBytes));
  REQUIRE(agent->heap.begin_move(*agent->heap.take_shortage()));
  CHECK(move_all(*agent, live) == 5);
  CHECK(agent->heap.end_move());
  CHECK(agent->heap.ready(0, kRunBytes, 1));  // set aside
  check(fixture, *agent, live);
  const auto run = agent->heap.allocate(0, kRunBytes);
  REQUIRE(run);
  check(fixture, *agent, live, kRunBytes);
  agent->heap.trim();
  agent->heap.free(0, *run, kRunBytes);
  agent->heap.return_all();
  check(fixture, *agent, live);
}

TEST_CASE(
    "heap: H7, a chunk in which another agent holds a block stays, and nothing is kept of it") {
  HeapFixture fixture;
  const auto agent = fixture.agent();
  const auto live = sparse(fixture, *agent);
  for (const std::uint64_t chunks : {1u, 4u}) {
    // Nothing is moved, as if all blocks there were on their way in.
    const HeapReport before = agent->heap.report(0);
    REQUIRE(agent->heap.begin_move({0, chunks}));
    CHECK_FALSE(agent->heap.all_moved());
    CHECK_FALSE(agent->heap.end_move());
    agent->heap.trim();
    agent->heap.return_all();
    CHECK(agent->heap.report(0).free_bytes == before.free_bytes);
    check(fixture, *agent, live);
  }
}

TEST_CASE("heap: H7, a walk that an exception ends keeps nothing") {
  HeapFixture fixture;
  const auto agent = fixture.agent();
  const auto live = sparse(fixture, *agent);
  const HeapReport before = agent->heap.report(0);
  const auto walk = [&] {
    REQUIRE(agent->heap.begin_move({0, 1}));
    const ShmHeap::MoveEnd at_end(agent->heap);
    throw std::length_error("a walk");
  };
  CHECK_THROWS_AS(walk(), std::length_error);
  agent->heap.return_all();
  CHECK(agent->heap.report(0).free_bytes == before.free_bytes);
  check(fixture, *agent, live);
  CHECK(agent->heap.begin_move({0, 1}));
  agent->heap.end_move();
}

TEST_CASE("heap: H7, the next plan passes over chunks that were chosen in vain") {
  HeapFixture fixture;
  const auto agent = fixture.agent();
  const auto live = sparse(fixture, *agent);
  std::set<std::uint64_t> tried;
  for (int round = 0; round < 3; ++round) {
    REQUIRE(agent->heap.begin_move({0, 4}));
    for (const Block& block : live) {
      if (agent->heap.is_leaving(block)) tried.insert(fixture.geometry.chunk_of(block.offset));
    }
    CHECK_FALSE(agent->heap.end_move());
  }
  CHECK(tried.size() == 12);  // neighbours of a chunk that stays are not tried with it again
  // All of them have their turn again when nothing else is left.
  for (std::uint64_t round = 0; round < fixture.geometry.chunks(); ++round) {
    REQUIRE(agent->heap.begin_move({0, 4}));
    CHECK_FALSE(agent->heap.end_move());
  }
  agent->heap.return_all();
  check(fixture, *agent, live);
}

TEST_CASE("heap: H7, plans in turn look at all windows") {
  HeapFixture fixture(8 << 20);
  const auto agent = fixture.agent();
  ShmHeap& heap = agent->heap;
  // Windows with blocks that do not fit elsewhere, more of them than two plans check.
  constexpr std::uint64_t kInVain = 2 * MovePlan::kMaxTried + 10;
  for (std::uint64_t i = 0; i < kInVain; ++i) REQUIRE(heap.allocate(0, kChunkBytes));
  // One window that can be emptied, of as many bytes, and room for its blocks between runs.
  constexpr std::uint64_t kPart = 512;
  constexpr std::uint64_t kParts = kChunkBytes / kPart;
  const auto fill = [&] {
    std::vector<Block> blocks;
    for (std::uint64_t i = 0; i < kParts; ++i) blocks.push_back(*heap.allocate(0, kPart));
    return blocks;
  };
  const std::uint64_t goes = fixture.geometry.chunk_of(fill().front().offset);
  const Block last = fill().back();
  REQUIRE(fixture.geometry.chunk_of(last.offset) == goes + 1);
  std::vector<Block> freed;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(heap.allocate(0, 2 * kChunkBytes));
    auto blocks = fill();
    freed.insert(freed.end(), blocks.begin() + 1, blocks.end());
  }
  while (heap.allocate(0, 2 * kChunkBytes)) continue;
  while (heap.allocate(0, kChunkBytes)) continue;
  for (const Block& block : freed) heap.free(0, block, kPart);
  heap.return_all();
  CHECK_FALSE(heap.begin_move({0, 2}));
  CHECK_FALSE(heap.begin_move({0, 2}));
  REQUIRE(heap.begin_move({0, 2}));
  CHECK(heap.is_leaving(last));
  heap.end_move();
}

TEST_CASE("heap: H7, a part of what is lacking is a gain where live runs leave no wider place") {
  HeapFixture fixture;
  const auto agent = fixture.agent();
  // Places of three chunks between runs, each chunk with one block left.
  std::vector<Block> all;
  std::uint64_t run_bytes = 0;
  while (true) {
    const auto block = agent->heap.allocate(0, kBytes);
    if (!block) break;
    all.push_back(*block);
    if (all.size() % (3 * class_capacity(class_for(kBytes))) != 0) continue;
    if (agent->heap.allocate(0, 2 * kChunkBytes)) run_bytes += 2 * kChunkBytes;
  }
  REQUIRE(run_bytes >= 20 * kChunkBytes);
  std::vector<Block> live = thin_out(fixture, *agent, all);
  CHECK_FALSE(agent->heap.begin_move({0, 7}));
  REQUIRE(agent->heap.begin_move({.rank = 0, .chunks = 7, .fewer = 3}));
  CHECK(move_all(*agent, live) == 3);
  CHECK(agent->heap.end_move());
  CHECK(agent->heap.ready(0, 3 * kChunkBytes, 1));
  agent->heap.trim();
  agent->heap.return_all();
  check(fixture, *agent, live, run_bytes);
  // All of it is the first choice.
  REQUIRE(agent->heap.begin_move({.rank = 0, .chunks = 3, .fewer = 2}));
  move_all(*agent, live);
  CHECK(agent->heap.end_move());
  CHECK(agent->heap.ready(0, 3 * kChunkBytes, 1));
}

TEST_CASE("heap: H7, a large heap is looked at until a part has something to empty") {
  HeapFixture fixture(kMaxPlanned * (kChunkBytes + kBitmapBytes + 8) + (4 << 20));
  const auto agent = fixture.agent();
  REQUIRE(fixture.geometry.chunks() > kMaxPlanned + 10);
  // A run that takes the first part; its bytes are not touched.
  REQUIRE(agent->heap.allocate(0, kMaxPlanned * kChunkBytes));
  // Two chunks behind it with a block each.
  std::vector<Block> all;
  for (std::uint64_t i = 0; i < class_capacity(class_for(kBytes)) + 1; ++i) {
    all.push_back(*agent->heap.allocate(0, kBytes));
  }
  for (std::size_t i = 1; i + 1 < all.size(); ++i) agent->heap.free(0, all[i], kBytes);
  agent->heap.return_all();
  REQUIRE(agent->heap.begin_move({0, 1}));
  CHECK(agent->heap.is_leaving(all.front()));
  agent->heap.end_move();
}

TEST_CASE("heap: H7, others free and lease in chunks that are being emptied") {
  HeapFixture fixture;
  const auto agent = fixture.agent();
  const auto other = fixture.agent();
  auto live = sparse(fixture, *agent);
  REQUIRE(agent->heap.begin_move({0, 1}));
  // The other one frees a block of a chunk that is being emptied, and takes others.
  free_leaving(*agent, live, *other);
  for (int i = 0; i < 300; ++i) {
    const auto block = other->heap.allocate(0, kBytes);
    REQUIRE(block);
    live.push_back(*block);
  }
  move_all(*agent, live);
  CHECK(agent->heap.end_move());
  agent->heap.return_all();
  other->heap.return_all();
  check(fixture, *agent, live);
}

TEST_CASE("heap: H7, a run is made of a chunk, too, whose last block another agent frees") {
  HeapFixture fixture;
  const auto agent = fixture.agent();
  const auto other = fixture.agent();
  auto live = sparse(fixture, *agent);
  REQUIRE(agent->heap.begin_move({0, 4}));
  free_leaving(*agent, live, *other);
  CHECK(move_all(*agent, live) == 3);
  CHECK(agent->heap.end_move());
  CHECK(agent->heap.ready(0, 4 * kChunkBytes, 1));
  check(fixture, *agent, live);
}

TEST_CASE("heap: H7, nothing is moved to a chunk that is being emptied") {
  HeapFixture fixture;
  const auto agent = fixture.agent();
  const auto other = fixture.agent();
  auto live = sparse(fixture, *agent);
  const auto chunks = [&](const Block& block) { return fixture.geometry.chunk_of(block.offset); };
  std::sort(live.begin(), live.end(),
            [&](const Block& a, const Block& b) { return chunks(a) < chunks(b); });
  REQUIRE(agent->heap.begin_move({0, 1}));
  // The first chunk has room again, and a search tries it first.
  REQUIRE(agent->heap.is_leaving(live.front()));
  other->heap.free(0, live.front(), kBytes);
  live.erase(live.begin());
  move_all(*agent, live);
  CHECK(agent->heap.end_move());
  agent->heap.return_all();
  CHECK(agent->heap.report(0).free_chunks == fixture.geometry.chunks() / 2);
  check(fixture, *agent, live);
}

TEST_CASE("heap: H7, two agents that empty chunks at a time take none from each other") {
  HeapFixture fixture;
  const auto agent = fixture.agent();
  const auto other = fixture.agent();
  auto live = sparse(fixture, *agent);
  REQUIRE(agent->heap.begin_move({0, 1}));
  const bool both = other->heap.begin_move({0, 1});
  if (both) {
    for (const Block& block : live) {
      CHECK_FALSE((agent->heap.is_leaving(block) && other->heap.is_leaving(block)));
    }
    move_all(*other, live);
  }
  move_all(*agent, live);
  CHECK(agent->heap.end_move());
  if (both) CHECK(other->heap.end_move());
  agent->heap.return_all();
  other->heap.return_all();
  check(fixture, *agent, live);
  CHECK(both);
}
