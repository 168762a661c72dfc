// When a session may search again after it has found no elements to move.
#include <catch2/catch.hpp>

#include "keyway/kvstore/volume/move_pace.h"

using namespace keyway::store;

namespace {

constexpr std::uint64_t kBegan = 1000;
constexpr std::uint64_t kEnded = 1100;
constexpr std::uint64_t kEnd = kEnded + MovePace::kPause * (kEnded - kBegan);

}  // namespace

TEST_CASE("move pace: a pause is as long as what was in vain, several times") {
  MovePace pace;
  CHECK_FALSE(pace.pauses({0, 4}, kBegan));
  pace.in_vain({0, 4}, kBegan, kEnded);
  CHECK(pace.pauses({0, 4}, kEnded));
  CHECK(pace.pauses({0, 4}, kEnd - 1));
  CHECK_FALSE(pace.pauses({0, 4}, kEnd));
}

TEST_CASE("move pace: a pause is for shortages of the same rank that are as large") {
  MovePace pace;
  pace.in_vain({0, 4}, kBegan, kEnded);
  CHECK(pace.pauses({0, 9}, kEnded));
  CHECK_FALSE(pace.pauses({0, 3}, kEnded));
  CHECK_FALSE(pace.pauses({1, 4}, kEnded));
  pace.in_vain({1, 1}, kBegan, kEnded);
  CHECK(pace.pauses({1, 4}, kEnded));
  CHECK(pace.pauses({0, 4}, kEnded));
}

TEST_CASE("move pace: a shortage is as large as the least that would be a gain") {
  MovePace pace;
  pace.in_vain({.rank = 0, .chunks = 9, .fewer = 4}, kBegan, kEnded);
  CHECK(pace.pauses({0, 4}, kEnded));
  CHECK_FALSE(pace.pauses({.rank = 0, .chunks = 9, .fewer = 3}, kEnded));
  pace.freed(0, 4 * kChunkBytes);
  CHECK_FALSE(pace.pauses({0, 4}, kEnded));
}

TEST_CASE("move pace: a pause ends when as much is freed as was lacking") {
  MovePace pace;
  pace.in_vain({2, 4}, kBegan, kEnded);
  pace.freed(2, 100);
  pace.freed(1, 4 * kChunkBytes);
  CHECK(pace.pauses({2, 4}, kEnded));
  pace.freed(2, 4 * kChunkBytes - 101);
  CHECK(pace.pauses({2, 4}, kEnded));
  pace.freed(2, 1);
  CHECK_FALSE(pace.pauses({2, 4}, kEnded));
  pace.in_vain({2, 4}, kBegan, kEnded);
  CHECK(pace.pauses({2, 4}, kEnded));
}

TEST_CASE("move pace: of more ranks than it notes, those that end last are noted") {
  MovePace pace;
  const std::uint32_t ranks = MovePace::kMaxPauses + 1;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) pace.in_vain({rank, 1}, kBegan, kEnded + rank);
  CHECK_FALSE(pace.pauses({0, 1}, kEnded));
  for (std::uint32_t rank = 1; rank < ranks; ++rank) CHECK(pace.pauses({rank, 1}, kEnded));
}
