// A rank's message to rank 0 arrives whole, and a truncated one is detected.
#include "tools/lockbench/measured.h"

#include <catch2/catch.hpp>

#include <cstddef>
#include <string>
#include <string_view>

using namespace keyway;
using namespace keyway::lockbench;

namespace {

AgentResult sample() {
  AgentResult result;
  result.begin_ns = 10;
  result.end_ns = 20;
  result.exclusive = 3;
  result.shared = 4;
  result.torn = 5;
  result.inserted = 21;
  result.missed = 22;
  result.use = {{6, 7}, {8, 9}};
  result.accesses = {{11, 12, 1, true}, {13, 14, 0, false}};
  result.stats.handovers_at[2] = 15;
  result.counts = fabric::OpCounts(3);
  result.counts.of(fabric::sim::OpClass::kRma, fabric::sim::OpKind::kSwap) = {16, 17, 18};
  result.counts.looks = {1, 2, 3};
  result.trouble = "the lock was lost";
  return result;
}

}  // namespace

TEST_CASE("measured: what is appended is taken again, one after the other") {
  std::string bytes;
  append(bytes, sample());
  append(bytes, AgentResult());
  std::string_view in = bytes;
  AgentResult first;
  AgentResult second;
  REQUIRE(take(in, first));
  REQUIRE(take(in, second));
  CHECK(in.empty());
  CHECK(first.begin_ns == 10);
  CHECK(first.inserted == 21);
  CHECK(first.missed == 22);
  CHECK(first.shared == 4);
  CHECK(first.torn == 5);
  REQUIRE(first.use.size() == 2);
  CHECK(first.use[1].increments == 9);
  REQUIRE(first.accesses.size() == 2);
  CHECK(first.accesses[0].grant == 12);
  CHECK(first.accesses[0].lock == 1);
  CHECK(first.accesses[0].exclusive);
  CHECK_FALSE(first.accesses[1].exclusive);
  CHECK(first.stats.handovers_at[2] == 15);
  CHECK(first.counts.of(fabric::sim::OpClass::kRma, fabric::sim::OpKind::kSwap)[2] == 18);
  CHECK(first.counts.looks[1] == 2);
  CHECK(first.trouble == "the lock was lost");
  CHECK(second.use.empty());
  CHECK(second.counts.levels() == 0);
}

TEST_CASE("measured: no part of a message passes for the whole") {
  std::string bytes;
  append(bytes, sample());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    std::string_view in(bytes.data(), length);
    AgentResult result;
    CAPTURE(length);
    CHECK_FALSE(take(in, result));
  }
}
