// The heap, one agent after the other: leases, reuse, classes, runs, exhaustion. H1..H3 of heap.h.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "heap_fixture.h"
#include "keyway/locks/base/rng.h"

using namespace keyway;
using namespace keyway::store;
using namespace keyway::test;

namespace {

struct Taken {
  Block block;
  std::uint64_t bytes;
};

std::vector<Taken> take_all(HeapAgent& agent, std::uint64_t bytes) {
  std::vector<Taken> taken;
  while (auto block = agent.heap.allocate(0, bytes)) taken.push_back({*block, bytes});
  return taken;
}
void free_all(HeapAgent& agent, std::vector<Taken>& taken) {
  for (const Taken& t : taken) agent.heap.free(0, t.block, t.bytes);
  taken.clear();
}
std::uint64_t spans(HeapAgent& agent, const std::vector<Taken>& taken) {
  std::uint64_t sum = 0;
  for (const Taken& t : taken) sum += agent.heap.span(t.block, t.bytes);
  return sum;
}

}  // namespace

TEST_CASE("heap: a fresh heap is all free") {
  HeapFixture fixture;
  auto agent = fixture.agent();
  const HeapReport report = agent->heap.report(0);
  CHECK(report.heap_bytes == fixture.geometry.heap_bytes());
  CHECK(report.free_bytes == report.heap_bytes);
  CHECK(report.free_chunks == fixture.geometry.chunks());
  CHECK(agent->heap.leased_bytes(0) == 0);
}

TEST_CASE("heap: one block leases a chunk, and the rest of it costs nothing more") {
  HeapFixture fixture;
  auto agent = fixture.agent();
  const auto block = agent->heap.allocate(0, 100);
  REQUIRE(block);
  CHECK(class_bytes(block->size_class) == 104);
  CHECK(agent->heap.leased_bytes(0) == kChunkBytes - agent->heap.span(*block, 100));
  CHECK(agent->heap.report(0).free_chunks == fixture.geometry.chunks() - 1);
  for (std::uint32_t i = 1; i < class_capacity(block->size_class); ++i) {
    REQUIRE(agent->heap.allocate(0, 100));
  }
  CHECK(agent->heap.leased_bytes(0) == 0);
  CHECK(agent->heap.report(0).free_chunks == fixture.geometry.chunks() - 1);
}

TEST_CASE("heap: a freed block is the next one handed out") {
  HeapFixture fixture;
  auto agent = fixture.agent();
  const auto first = agent->heap.allocate(0, 200);
  agent->heap.free(0, *first, 200);
  const auto again = agent->heap.allocate(0, 200);
  CHECK(again->offset == first->offset);
}

TEST_CASE("heap: blocks never overlap, lie in the heap, and add up (H3), for every class") {
  HeapFixture fixture;
  for (std::uint32_t c = 0; c < kClasses; ++c) {
    auto agent = fixture.agent();
    CAPTURE(c);
    auto taken = take_all(*agent, class_bytes(c));
    REQUIRE(taken.size() == fixture.geometry.chunks() * class_capacity(c));
    std::sort(taken.begin(), taken.end(),
              [](const Taken& a, const Taken& b) { return a.block.offset < b.block.offset; });
    REQUIRE(taken.front().block.offset >= fixture.geometry.chunk(0, 0).offset());
    for (std::size_t i = 1; i < taken.size(); ++i) {
      REQUIRE(taken[i - 1].block.offset + class_bytes(c) <= taken[i].block.offset);
    }
    REQUIRE(taken.back().block.offset + class_bytes(c) <= fixture.geometry.segment_bytes());
    REQUIRE(spans(*agent, taken) == fixture.geometry.heap_bytes());
    REQUIRE(agent->heap.report(0).free_bytes == 0);
    free_all(*agent, taken);
    agent->heap.return_all();
    // H2: every chunk is free again, for the next class
    REQUIRE(agent->heap.report(0).free_chunks == fixture.geometry.chunks());
    fixture.check_at_rest(*agent);
  }
}

TEST_CASE("heap: a full heap says so, and a single freed block is found again") {
  HeapFixture fixture;
  auto agent = fixture.agent();
  auto other = fixture.agent();
  auto taken = take_all(*agent, 500);
  CHECK_FALSE(agent->heap.allocate(0, 32));
  CHECK_FALSE(other->heap.allocate(0, 500));
  CHECK_FALSE(other->heap.allocate(0, kChunkBytes * 2));
  agent->heap.free(0, taken.back().block, 500);
  agent->heap.return_all();
  const auto found = other->heap.allocate(0, 500);
  REQUIRE(found);
  CHECK(found->offset == taken.back().block.offset);
  CHECK_FALSE(other->heap.allocate(0, 500));
}

TEST_CASE("heap: what one agent hoards in other classes it gives back when it needs room") {
  HeapFixture fixture;
  auto agent = fixture.agent();
  auto taken = take_all(*agent, 64);
  free_all(*agent, taken);  // keeps a chunk's worth
  CHECK(agent->heap.leased_bytes(0) > 0);
  auto large = take_all(*agent, kChunkBytes);
  CHECK(large.size() == fixture.geometry.chunks());
  free_all(*agent, large);
  const auto run =
      agent->heap.allocate(0, fixture.geometry.heap_bytes());  // every chunk, as one run
  REQUIRE(run);
  CHECK(run->size_class == kRunClass);
  CHECK(agent->heap.report(0).free_bytes == 0);
  agent->heap.free(0, *run, fixture.geometry.heap_bytes());
  CHECK(agent->heap.report(0).free_chunks == fixture.geometry.chunks());
}

TEST_CASE("heap: no more than a chunk's worth of a class stays with who freed it") {
  HeapFixture fixture;
  auto agent = fixture.agent();
  auto taken = take_all(*agent, 256);
  free_all(*agent, taken);
  CHECK(agent->heap.leased_bytes(0) <= kChunkBytes);
  CHECK(agent->heap.leased_bytes(0) + agent->heap.report(0).free_bytes ==
        fixture.geometry.heap_bytes());
}

TEST_CASE("heap: runs of several sizes fill gaps and leave no trace") {
  HeapFixture fixture;
  auto agent = fixture.agent();
  const auto run = [&](std::uint64_t chunks) {
    return agent->heap.allocate(0, chunks * kChunkBytes - 5);
  };
  CHECK_FALSE(run(fixture.geometry.chunks() + 1));
  const auto a = run(2), b = run(3), c = run(4);
  REQUIRE((a && b && c));
  fixture.check_at_rest(*agent);
  agent->heap.free(0, *b, 3 * kChunkBytes - 5);
  while (run(7)) {
  }
  const auto filled = run(3);  // the gap, since nothing wider is left but perhaps the end
  REQUIRE(filled);
  fixture.check_at_rest(*agent);
  CHECK(agent->heap.span(*filled, 3 * kChunkBytes - 5) == 3 * kChunkBytes);
}

TEST_CASE("heap: ensure sets aside what it promises, or says no") {
  HeapFixture fixture;
  auto agent = fixture.agent();
  REQUIRE(agent->heap.ensure(0, 1000, 50));
  CHECK(agent->heap.ready(0, 1000, 50));
  const std::uint64_t free_before = agent->heap.report(0).free_bytes;
  for (int i = 0; i < 50; ++i) REQUIRE(agent->heap.allocate(0, 1000));
  CHECK(agent->heap.report(0).free_bytes == free_before);
  REQUIRE(agent->heap.ensure(0, 3 * kChunkBytes, 2));
  CHECK(agent->heap.leased_bytes(0) >= 6 * kChunkBytes);
  const auto one = agent->heap.allocate(0, 3 * kChunkBytes);
  REQUIRE(one);
  CHECK_FALSE(agent->heap.ready(0, 3 * kChunkBytes, 2));
  CHECK_FALSE(agent->heap.ensure(0, kChunkBytes, fixture.geometry.chunks()));
}

TEST_CASE("heap: an agent that ends returns everything it leased") {
  HeapFixture fixture;
  auto watcher = fixture.agent();
  {
    auto agent = fixture.agent();
    for (const std::uint64_t bytes : {20u, 64u, 700u, 5000u, 16384u}) {
      const auto block = agent->heap.allocate(0, bytes);
      agent->heap.free(0, *block, bytes);
    }
    REQUIRE(agent->heap.ensure(0, 2 * kChunkBytes, 1));
    CHECK(watcher->heap.report(0).free_bytes < fixture.geometry.heap_bytes());
  }
  CHECK(watcher->heap.report(0).free_chunks == fixture.geometry.chunks());
  fixture.check_at_rest(*watcher);
}

TEST_CASE("heap: ranks have heaps of their own") {
  HeapFixture fixture(2 << 20, 3);
  auto agent = fixture.agent(1);
  REQUIRE(agent->heap.allocate(2, 100));
  CHECK(agent->heap.report(0).free_chunks == fixture.geometry.chunks());
  CHECK(agent->heap.report(1).free_chunks == fixture.geometry.chunks());
  CHECK(agent->heap.report(2).free_chunks == fixture.geometry.chunks() - 1);
  CHECK(agent->heap.leased_bytes(1) == 0);
  CHECK(agent->heap.leased_bytes(2) > 0);
}

TEST_CASE("heap: spare room is taken where a block has about as much, and else left") {
  HeapFixture fixture;
  const auto agent = fixture.agent();
  const auto room = [&](std::uint64_t bytes, std::uint64_t spare) {
    const auto block = agent->heap.allocate(0, bytes, spare);
    REQUIRE(block);
    return agent->heap.capacity(0, *block);
  };
  CHECK(room(1000, 0) == class_bytes(class_for(1000)));
  CHECK(room(1000, 125) == class_bytes(class_for(1125)));
  CHECK(room(160'000, 20'000) == 11 * kChunkBytes);
  CHECK(room(15'000, 1875) == kChunkBytes);      // and no run of two chunks
  CHECK(room(31'000, 3875) == 2 * kChunkBytes);  // and not of three
  CHECK(room(8000, 1000) == class_bytes(class_for(8000)));
}

TEST_CASE("heap: spare room costs no lease, and none is a shortage") {
  HeapFixture fixture;
  const auto agent = fixture.agent();
  ShmHeap& heap = agent->heap;
  const auto large = heap.allocate(0, 5000);
  REQUIRE(large);
  std::vector<Block> blocks;
  while (const auto block = heap.allocate(0, 100)) blocks.push_back(*block);
  heap.free(0, *large, 5000);
  for (int i = 0; i < 2; ++i) {
    heap.free(0, blocks.back(), 100);
    blocks.pop_back();
  }
  heap.take_shortage();
  const std::uint64_t leased = heap.leased_bytes(0);
  const auto block = heap.allocate(0, 100, 12);
  REQUIRE(block);
  CHECK(block->size_class == class_for(100));
  CHECK(heap.leased_bytes(0) + heap.span(*block, 100) == leased);
  CHECK_FALSE(heap.take_shortage());
  // A run that is set aside is taken as it is.
  for (const Block& each : blocks) heap.free(0, each, 100);
  heap.return_all();
  REQUIRE(heap.ensure(0, 9 * kChunkBytes, 1));
  const auto run = heap.allocate(0, 9 * kChunkBytes, kChunkBytes);
  REQUIRE(run);
  CHECK(heap.capacity(0, *run) == 9 * kChunkBytes);
  CHECK_FALSE(heap.ready(0, 9 * kChunkBytes, 1));
}
