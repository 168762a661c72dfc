// The volume without locks: inserted keys are found, in slots and in the heap, alone and together.
#include "keyway/kvstore/atomic_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "keyway/locks/fabric/shm/shm_fabric.h"

using namespace keyway;
using namespace keyway::store;

#ifndef KEYWAY_TEST_DIVISOR
#define KEYWAY_TEST_DIVISOR 1
#endif

namespace {

using Table = AtomicTable<fabric::ShmEndpoint>;

constexpr fabric::Address kBase{1, 4096};  // on another rank than the first agent

struct Fixture {
  explicit Fixture(const AtomicTableShape& of)
      : shape(of),
        fabric(std::move(*fabric::ShmFabric::create(
            {.ranks = 2, .segment_bytes = kBase.offset() + of.bytes(), .agents_per_rank = 8}))) {}
  struct Agent {
    Agent(fabric::ShmFabric& fabric, const AtomicTableShape& shape, std::uint32_t rank)
        : ep(std::move(*fabric.endpoint(rank))), table(ep, kBase, shape) {}
    fabric::ShmEndpoint ep;
    Table table;
  };
  std::unique_ptr<Agent> agent(std::uint32_t rank = 0) {
    return std::make_unique<Agent>(fabric, shape, rank);
  }

  AtomicTableShape shape;
  fabric::ShmFabric fabric;
};

std::vector<std::uint64_t> contents(Table& table) {
  std::vector<std::uint64_t> values;
  table.for_each([&](std::uint64_t value) { values.push_back(value); });
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

TEST_CASE("atomic table: what was inserted is found, and nothing else") {
  Fixture fixture({.slots = 8, .cells = 100});
  auto agent = fixture.agent();
  CHECK_FALSE(agent->table.find(1));
  for (std::uint64_t value = 1; value <= 60; ++value) REQUIRE(agent->table.insert(value).ok());
  for (std::uint64_t value = 1; value <= 60; ++value) CHECK(agent->table.find(value));
  for (std::uint64_t value = 61; value <= 120; ++value) CHECK_FALSE(agent->table.find(value));
  auto other = fixture.agent(1);
  const auto all = contents(other->table);
  CHECK(all.size() == 60);
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}

TEST_CASE("atomic table: T1, a full heap refuses, and loses nothing") {
  Fixture fixture({.slots = 1, .cells = 3});
  auto agent = fixture.agent();
  for (std::uint64_t value = 1; value <= 4; ++value) REQUIRE(agent->table.insert(value).ok());
  for (int times = 0; times < 3; ++times) {
    CHECK(agent->table.insert(5).code() == Code::kOutOfSpace);
    CHECK(agent->table.insert_alone(5).code() == Code::kOutOfSpace);
  }
  CHECK_FALSE(agent->table.find(5));
  CHECK(contents(agent->table) == std::vector<std::uint64_t>{1, 2, 3, 4});
}

TEST_CASE("atomic table: with a lock and without it the same words come out") {
  const AtomicTableShape shape{.slots = 4, .cells = 64};
  Fixture with(shape), without(shape);
  auto one = with.agent();
  auto other = without.agent();
  for (std::uint64_t value = 1; value <= 40; ++value) {
    REQUIRE(one->table.insert_alone(value).ok());
    one->ep.flush(kBase.rank());
    REQUIRE(other->table.insert(value).ok());
  }
  for (std::uint64_t at = 0; at < shape.bytes(); at += 8) {
    CAPTURE(at);
    REQUIRE(one->ep.load(fabric::rma, kBase + at) == other->ep.load(fabric::rma, kBase + at));
  }
}

TEST_CASE("atomic table: T2 and T3, agents that insert at the same time lose nothing") {
  constexpr std::uint64_t kEach = 4000 / KEYWAY_TEST_DIVISOR;
  constexpr std::uint64_t kAgents = 4;
  Fixture fixture({.slots = 64, .cells = kAgents * kEach});
  std::vector<std::uint64_t> missed(kAgents, 0);
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t who = 0; who < kAgents; ++who) {
      threads.emplace_back([&, who] {
        auto agent = fixture.agent(static_cast<std::uint32_t>(who % 2));
        for (std::uint64_t i = 0; i < kEach; ++i) {
          const std::uint64_t value = who * kEach + i + 1;
          const bool placed = agent->table.insert(value).ok();
          if (!placed || (i % 16 == 0 && !agent->table.find(value))) ++missed[who];
        }
      });
    }
  }
  for (const std::uint64_t of_one : missed) CHECK(of_one == 0);
  auto agent = fixture.agent();
  std::vector<std::uint64_t> expected;
  for (std::uint64_t value = 1; value <= kAgents * kEach; ++value) expected.push_back(value);
  CHECK(contents(agent->table) == expected);
}
