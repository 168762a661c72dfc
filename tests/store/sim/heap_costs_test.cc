// The cost of large values in another rank's heap, as read_costs_test.cc counts it.
#include <fmt/core.h>

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
