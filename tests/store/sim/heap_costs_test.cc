// The cost of large values in another rank's heap, as read_costs_test.cc counts it.
#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "keyway/kvstore/layout/size_class.h"
#include "tests/store/sim/far_sessions.h"

using namespace keyway;
using namespace keyway::test;

namespace {

void run_far_heap(const std::function<void(FarSessions&)>& body) {
  run_far(0, body, {.memory_bytes = 32 * store::kMinMemoryBytes});
}

/// The same on a network that is so fast that many operations take less than FullHeap::kRememberNs.
void run_fast_far_heap(const std::function<void(FarSessions&)>& body) {
  run_far(0, body,
          {.stripes = 64,
           .buckets_per_stripe = 64,
           .memory_bytes = 32 * store::kMinMemoryBytes,
           .latency_ns = 1000});
}

/// Lets FullHeap::kRememberNs pass.
void wait_long(FarSessions& far) {
  const fabric::Backoff pause{1'000'000, 1'000'000};
  far.session->endpoint().retry_until([] { return false; }, pause,
                                      Deadline::within(std::chrono::milliseconds(20)));
}

/// The messages of a put that finds no room.
std::uint64_t refusal(FarSessions& far, const std::string& key, const std::string& value) {
  const std::uint64_t before = far.messages();
  REQUIRE(far.session->put(key, value, {}) == Code::kOutOfSpace);
  return far.messages() - before;
}

/// A value that takes this many chunks.
std::string large(std::uint64_t chunks) {
  return std::string(chunks * store::kChunkBytes - 200, 'l');
}

/// Fills rank 0's heap with large values; returns the keys of those of two chunks.
std::vector<std::string> fill(FarSessions& far) {
  std::vector<std::string> small;
  int n = 0;
  for (const std::uint64_t chunks : {64u, 2u}) {
    while (true) {
      const std::string key = fmt::format("fill {}", n++);
      if (far.session->stripe_of(key).rank != 0) continue;
      if (!far.session->put(key, large(chunks), {}).ok()) break;
      if (chunks == 2) small.push_back(key);
    }
  }
  return small;
}

}  // namespace

TEST_CASE("heap costs: the chunks of a large value are claimed and freed together") {
  run_far_heap([](FarSessions& far) {
    const std::int64_t short_one = far.put(kLonger).round_trips;
    // The heap's two words, the claim, its head; 32 chunks at once.
    CHECK(far.put(large(30)).round_trips <= short_one + 4);
    CHECK(far.put(kShort).round_trips <= short_one + 2);
    CHECK(far.put(large(200)).round_trips <= short_one + 4 + 6);
    CHECK(far.put(kShort).round_trips <= short_one + 2 + 6);
  });
}

TEST_CASE("heap costs: a claim that fails half-way gives back what it has claimed") {
  run_far_heap([](FarSessions& far) {
    const std::vector<std::string> small = fill(far);
    REQUIRE(small.size() > 2);
    const auto before = far.session->usage(0);
    for (int round = 0; round < 3; ++round) {
      REQUIRE(far.session->put(far.keys[0], large(64), {}) == Code::kOutOfSpace);
    }
    CHECK(far.session->usage(0).heap.free_bytes == before.heap.free_bytes);
    CHECK(far.session->usage(0).heap.free_chunks == before.heap.free_chunks);
    REQUIRE(far.session->erase(small[0]).ok());
    CHECK(far.session->put(far.keys[0], large(2), {}).ok());
  });
}

TEST_CASE("heap costs: a full heap is searched once") {
  for (const std::string& value : {large(2), std::string(3000, 'v')}) {
    run_fast_far_heap([&](FarSessions& far) {
      std::vector<std::string> kept;
      for (int n = 0;; ++n) {
        const std::string key = fmt::format("fill {}", n);
        if (far.session->stripe_of(key).rank != 0) continue;
        if (!far.session->put(key, value, {}).ok()) break;
        kept.push_back(key);
      }
      REQUIRE(kept.size() > 4);
      const std::string& key = far.keys[0];
      const auto put = [&] { return far.session->put(key, value, {}); };

      wait_long(far);
      const std::uint64_t first = refusal(far, key, value);
      const std::uint64_t second = refusal(far, key, value);
      INFO(first << " messages, then " << second);
      CHECK(second + 4 <= first);
      CHECK(second <= 8);

      // Its own gifts it knows at once, those of others a moment later.
      REQUIRE(far.session->erase(kept[0]).ok());
      CHECK(put().ok());
      REQUIRE(far.session->erase(key).ok());
      REQUIRE(far.session->put(kept[0], value, {}).ok());
      REQUIRE(put() == Code::kOutOfSpace);
      REQUIRE(far.other->erase(kept[1]).ok());
      far.other.reset();  // it keeps a freed block in hand
      wait_long(far);
      CHECK(put().ok());
    });
  }
}
