// M1 to M3: which chunks a plan empties, by the states of all chunks.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <vector>

#include "keyway/kvstore/volume/move_plan.h"
#include "keyway/locks/base/rng.h"

using namespace keyway;
using namespace keyway::store;

namespace {

constexpr std::uint32_t kSmall = class_for(100);
constexpr std::uint32_t kOther = class_for(5000);
const std::uint64_t kCapacity = class_capacity(kSmall);
const ChunkState kFree(0);
const ChunkState kRun(ChunkState::kRunHead, 2);
const ChunkState kRest(ChunkState::kRunRest, 0);

ChunkState small(std::uint64_t count) { return ChunkState::cut(kSmall, count); }

using States = std::vector<ChunkState>;
using Chunks = std::vector<std::uint64_t>;

std::uint64_t room_of(ChunkState state) {
  return state.is_cut() ? class_capacity(state.size_class()) - state.count() : 0;
}

States drawn(Rng& rng) {
  States states;
  const std::uint64_t chunks = 1 + rng.below(60);
  while (states.size() < chunks) {
    switch (rng.below(6)) {
      case 0: states.push_back(kFree); break;
      case 1:
        states.push_back(kRun);
        states.push_back(kRest);
        break;
      default: {
        const std::uint32_t c = rng.below(2) == 0 ? kSmall : kOther;
        states.push_back(ChunkState::cut(c, 1 + rng.below(class_capacity(c))));
      }
    }
  }
  return states;
}

/// M1: free blocks of a class outside of what is chosen, and free chunks there, if these count.
bool fits(const States& states, const Chunks& chosen, bool into_free_chunks) {
  std::array<std::int64_t, kClasses> lacking{};
  std::int64_t free_chunks = 0;
  for (std::uint64_t at = 0; at < states.size(); ++at) {
    const ChunkState state = states[at];
    const bool goes = std::find(chosen.begin(), chosen.end(), at) != chosen.end();
    free_chunks += state.free() && !goes ? 1 : 0;
    if (!state.is_cut()) continue;
    const auto room = static_cast<std::int64_t>(room_of(state));
    lacking[state.size_class()] += goes ? static_cast<std::int64_t>(state.count()) : -room;
  }
  for (std::uint32_t c = 0; c < kClasses; ++c) {
    if (lacking[c] > 0 && !into_free_chunks) return false;
    for (; lacking[c] > 0; lacking[c] -= class_capacity(c)) --free_chunks;
  }
  return free_chunks >= 0;
}

Chunks window_of(std::uint64_t first, std::uint64_t width) {
  Chunks all;
  for (std::uint64_t i = 0; i < width; ++i) all.push_back(first + i);
  return all;
}

}  // namespace

TEST_CASE("move plan: the sparsest chunks are emptied, and half of a class stay") {
  const States states = {small(9), small(1), small(kCapacity), small(3), small(2), small(50)};
  const MovePlan plan(states);
  CHECK(plan.chunks(0).chunks == Chunks{1, 4});  // five have room
  CHECK(plan.chunks(0).next == 0);
  CHECK(plan.chunks(1).chunks == Chunks{4, 3});  // after the first one failed
  CHECK(plan.chunks(5).chunks.empty());
}

TEST_CASE("move plan: nothing is chosen that fits nowhere else") {
  CHECK(MovePlan(States{}).chunks(0).chunks.empty());
  CHECK(MovePlan(States{small(1)}).chunks(0).chunks.empty());
  CHECK(MovePlan(States{small(1), kFree}).chunks(0).chunks.empty());  // no gain
  CHECK(MovePlan(States{small(1), ChunkState::cut(kOther, 1)}).chunks(0).chunks.empty());
  CHECK(MovePlan(States{small(kCapacity), small(kCapacity)}).chunks(0).chunks.empty());
  CHECK(MovePlan(States{small(kCapacity - 1), small(2)}).chunks(0).chunks.empty());
  CHECK(MovePlan(States{small(kCapacity - 2), small(2)}).chunks(0).chunks == Chunks{1});
}

TEST_CASE("move plan: M2, one plan moves so many blocks and bytes") {
  const States blocks(3 * MovePlan::kMaxBlocks, small(1));
  const MovePlan::Choice first = MovePlan(blocks).chunks(0);
  CHECK(first.chunks.size() == MovePlan::kMaxBlocks);
  REQUIRE(first.next == MovePlan::kMaxBlocks);
  CHECK(MovePlan(blocks).chunks(first.next).chunks.front() == first.next);
  const States bytes(4000, ChunkState::cut(kOther, 1));
  const std::uint64_t most = MovePlan::kMaxBytes / class_bytes(kOther);
  CHECK(MovePlan(bytes).chunks(0).chunks.size() == most);
}

TEST_CASE("move plan: a window has no run, and the fewest bytes") {
  const States states = {small(5), kRun, kRest,    small(2), kFree,
                         small(1), kRun, small(1), small(9), small(kCapacity / 2)};
  const MovePlan plan(states);
  CHECK(plan.window(3, 0).chunks == Chunks{3});
  CHECK(plan.window(2, 0).chunks == Chunks{4});  // one block
  CHECK(plan.window(2, 1).chunks == Chunks{3});
  CHECK(plan.window(4, 0).chunks.empty());
  CHECK(plan.window(11, 0).chunks.empty());
}

TEST_CASE("move plan: a window's blocks go to free chunks as well") {
  CHECK(MovePlan(States{small(1), small(1), kRun, kRest, kFree}).window(2, 0).chunks == Chunks{0});
  CHECK(MovePlan(States{small(1), small(1), kRun, kRest}).window(2, 0).chunks.empty());
  // Two classes need two chunks.
  const ChunkState other = ChunkState::cut(kOther, 1);
  CHECK(MovePlan(States{small(1), other, kRun, kRest, kFree}).window(2, 0).chunks.empty());
  CHECK(MovePlan(States{small(1), other, kRun, kRest, kFree, kRun, kRest, kFree})
            .window(2, 0)
            .chunks == Chunks{0});
}

TEST_CASE("move plan: M1 and M3, for any states") {
  Rng rng(7);
  std::uint64_t plans = 0;
  for (int round = 0; round < 3000; ++round) {
    const States states = drawn(rng);
    const MovePlan plan(states);
    const Chunks chunks = plan.chunks(rng.below(3)).chunks;
    plans += chunks.empty() ? 0 : 1;
    REQUIRE(fits(states, chunks, /*into_free_chunks=*/false));
    for (const std::uint32_t c : {kSmall, kOther}) {
      const auto sparse = [&](ChunkState s) {
        return s.is_cut() && s.size_class() == c && room_of(s) > 0;
      };
      const auto goes = [&](std::uint64_t at) { return sparse(states[at]); };
      const auto all = std::count_if(states.begin(), states.end(), sparse);
      REQUIRE(2 * std::count_if(chunks.begin(), chunks.end(), goes) <= all);
    }
    const std::uint64_t width = 2 + rng.below(4);
    const Chunks window = plan.window(width, rng.below(3)).chunks;
    if (window.empty()) continue;
    ++plans;
    const Chunks inside = window_of(window.front(), width);
    REQUIRE(inside.back() < states.size());
    for (const std::uint64_t at : inside) REQUIRE((states[at].free() || states[at].is_cut()));
    REQUIRE(fits(states, inside, /*into_free_chunks=*/true));
  }
  CHECK(plans > 1000);
}
