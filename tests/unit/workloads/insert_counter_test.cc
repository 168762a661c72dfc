#include "keyway/workloads/insert_counter.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "keyway/locks/base/rng.h"

using keyway::Rng;
using keyway::workloads::InsertCounter;

TEST_CASE("a number may be read once it and all before it are acknowledged") {
  InsertCounter counter;
  CHECK(counter.readable() == 0);
  REQUIRE(counter.take() == 0U);
  REQUIRE(counter.take() == 1U);
  REQUIRE(counter.take() == 2U);
  counter.acknowledge(2);
  CHECK(counter.readable() == 0);
  counter.acknowledge(0);
  CHECK(counter.readable() == 1);
  counter.acknowledge(1);
  CHECK(counter.readable() == 3);
}

TEST_CASE("numbers stop while the oldest insert lags a whole window behind, and go on after it") {
  InsertCounter counter;
  for (std::uint64_t i = 0; i < InsertCounter::kWindow; ++i) REQUIRE(counter.take() == i);
  for (std::uint64_t i = 1; i < InsertCounter::kWindow; ++i) counter.acknowledge(i);
  CHECK_FALSE(counter.take());
  CHECK(counter.readable() == 0);
  counter.acknowledge(0);
  CHECK(counter.readable() == InsertCounter::kWindow);
  CHECK(counter.take() == InsertCounter::kWindow);
}

TEST_CASE("the window is used again and again") {
  InsertCounter counter;
  for (std::uint64_t i = 0; i < 3 * InsertCounter::kWindow + 5; ++i) {
    REQUIRE(counter.take() == i);
    counter.acknowledge(i);
  }
  CHECK(counter.readable() == 3 * InsertCounter::kWindow + 5);
}

TEST_CASE("threads never see a number before its insert is done") {
  constexpr std::uint64_t kInserts = 100'000;
  constexpr int kThreads = 4;
  InsertCounter counter;
  std::vector<char> inserted(kThreads * kInserts + 1, 0);
  std::atomic<int> failures{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        Rng rng(static_cast<std::uint64_t>(t));
        for (std::uint64_t i = 0; i < kInserts; ++i) {
          const auto number = counter.take();
          if (!number) {
            failures.fetch_add(1, std::memory_order_relaxed);
            continue;
          }
          inserted[*number] = 1;  // not atomic: readable() must order it
          counter.acknowledge(*number);
          const std::uint64_t readable = counter.readable();
          if (readable > 0 && inserted[rng.below(readable)] != 1) {
            failures.fetch_add(1, std::memory_order_relaxed);
          }
        }
      });
    }
  }
  CHECK(failures.load(std::memory_order_relaxed) == 0);
  CHECK(counter.readable() == kThreads * kInserts);
}
