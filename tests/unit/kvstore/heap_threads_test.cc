// The heap under agents that allocate and free at the same time: no byte is handed out twice.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "heap_fixture.h"
#include "keyway/locks/base/rng.h"

using namespace keyway;
using namespace keyway::store;
using namespace keyway::test;

#ifndef KEYWAY_TEST_DIVISOR
#define KEYWAY_TEST_DIVISOR 1
#endif

namespace {

constexpr int kSteps = 20'000 / KEYWAY_TEST_DIVISOR;

// The owner of each 8 bytes of the heap. An owner that finds another's mark has detected an
// overlap.
class Shadow {
 public:
  explicit Shadow(const Geometry& g) : base_(g.chunk(0, 0).offset()), marks_(g.heap_bytes() / 8) {}
  bool take(const Block& block, std::uint64_t bytes, std::uint32_t owner) {
    return change(block, bytes, 0, owner);
  }
  bool leave(const Block& block, std::uint64_t bytes, std::uint32_t owner) {
    return change(block, bytes, owner, 0);
  }

 private:
  bool change(const Block& block, std::uint64_t bytes, std::uint32_t from, std::uint32_t to) {
    bool clean = true;
    for (std::uint64_t i = (block.offset - base_) / 8; i < (block.offset - base_ + bytes + 7) / 8;
         ++i) {
      // relaxed: the mark publishes nothing; a plain exchange finds the overlap.
      clean = marks_[i].exchange(to, std::memory_order_relaxed) == from && clean;
    }
    return clean;
  }
  std::uint64_t base_;
  std::vector<std::atomic<std::uint32_t>> marks_;
};

struct Held {
  Block block;
  std::uint64_t bytes;
};

// Few sizes, so that classes and chunks are fought for; some are runs.
std::uint64_t draw_bytes(Rng& rng) {
  constexpr std::uint64_t kSizes[] = {32, 40, 64, 512, 1000, 5000, 16384, 20000, 60000};
  return kSizes[rng.below(std::size(kSizes))];
}

// Returns whether it saw no overlap; leaves what it still holds in `held`.
bool allocate_and_free(HeapAgent& agent, Shadow& shadow, std::uint32_t me,
                       std::vector<Held>& held) {
  Rng rng(me);
  bool clean = true;
  for (int step = 0; step < kSteps; ++step) {
    // Waves between empty and full, so that chunks are freed and cut again.
    const bool grow = step / 200 % 2 == 0 ? rng.below(4) != 0 : rng.below(4) == 0;
    if (grow) {
      const std::uint64_t bytes = draw_bytes(rng);
      if (const auto block = agent.heap.allocate(0, bytes)) {
        clean = shadow.take(*block, bytes, me) && clean;
        held.push_back({*block, bytes});
      }
    } else if (!held.empty()) {
      std::swap(held[rng.below(held.size())], held.back());
      const Held gone = held.back();
      held.pop_back();
      clean = shadow.leave(gone.block, gone.bytes, me) && clean;
      agent.heap.free(0, gone.block, gone.bytes);
    }
    if (rng.below(500) == 0) agent.heap.return_all();
  }
  return clean;
}

/// With few agents, which may keep blocks, or with too many, of which none may (H6).
void check_threads(std::uint32_t agents_per_rank) {
  HeapFixture fixture(1 << 20, 1, agents_per_rank);
  constexpr std::uint32_t kThreads = 4;
  Shadow shadow(fixture.geometry);
  std::vector<std::unique_ptr<HeapAgent>> agents;
  std::vector<std::vector<Held>> held(kThreads);
  std::vector<char> clean(kThreads);
  for (std::uint32_t i = 0; i < kThreads; ++i) agents.push_back(fixture.agent());
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      threads.emplace_back(
          [&, i] { clean[i] = allocate_and_free(*agents[i], shadow, i + 1, held[i]); });
    }
  }
  for (std::uint32_t i = 0; i < kThreads; ++i) CHECK(clean[i]);
  fixture.check_at_rest(*agents[0]);  // H1
  std::uint64_t live = 0;
  std::uint64_t leased = 0;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    for (const Held& h : held[i]) live += agents[i]->heap.span(h.block, h.bytes);
    leased += agents[i]->heap.leased_bytes(0);
  }
  const HeapReport report = agents[0]->heap.report(0);
  CHECK(live + leased + report.free_bytes == report.heap_bytes);  // H3

  for (std::uint32_t i = 0; i < kThreads; ++i) {
    for (const Held& h : held[i]) agents[i]->heap.free(0, h.block, h.bytes);
    agents[i]->heap.return_all();
  }
  CHECK(agents[0]->heap.report(0).free_chunks == fixture.geometry.chunks());
  fixture.check_at_rest(*agents[0]);
}

}  // namespace

TEST_CASE("heap: agents of several threads never share a byte, and nothing is lost") {
  for (const std::uint32_t agents_per_rank : {1u, 64u}) {
    CAPTURE(agents_per_rank);
    check_threads(agents_per_rank);
  }
}

TEST_CASE("heap: blocks that one thread frees another one gets") {
  HeapFixture fixture(1 << 20);
  auto giver = fixture.agent();
  auto taker = fixture.agent();
  // The giver fills the heap; the taker asks until it has as much again, while the giver frees.
  std::vector<Block> blocks;
  while (const auto block = giver->heap.allocate(0, 2000)) blocks.push_back(*block);
  std::uint64_t taken = 0;
  {
    std::jthread asks([&] {
      taker->ep.retry_until(
          [&] {
            while (taker->heap.allocate(0, 1000)) ++taken;
            return taken >= blocks.size();
          },
          fabric::Backoff::none(), Deadline::within(std::chrono::seconds(60)));
    });
    for (const Block& block : blocks) giver->heap.free(0, block, 2000);
    giver->heap.return_all();
  }
  CHECK(taken >= blocks.size());
}
