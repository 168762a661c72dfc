// The explorer itself: it tries every order, and no order that cannot be.
#include <catch2/catch.hpp>
#include <set>
#include <utility>

#include "tests/sim/scripted.h"

using namespace keyway;
using namespace keyway::test;
using fabric::cpu;
using fabric::rma;
using fabric::sim::Explorer;

namespace {

constexpr std::uint64_t kAll = 1'000'000;
const fabric::Address kX{0, fabric::kReservedBytes};
const fabric::Address kY{0, fabric::kReservedBytes + 8};
const auto not_zero = [](std::uint64_t v) { return v != 0; };

// The values of y and then x that agent 1 can see after agent 0 has done `writes`.
std::set<std::pair<std::uint64_t, std::uint64_t>> seen_while(const Scripted::Part& writes) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  Scripted program({writes, [&](auto& ep) {
                      const std::uint64_t y = ep.load(rma, kY);
                      const std::uint64_t x = ep.load(rma, kX);
                      seen.insert({y, x});
                    }});
  Explorer explorer(program);
  const auto report = explorer.exhaust(kAll);
  CHECK(report.complete);
  CHECK_FALSE(report.violation);
  return seen;
}

}  // namespace

TEST_CASE("explore: blocking stores are seen in their order, all interleavings") {
  const auto seen = seen_while([](auto& ep) {
    ep.store(rma, kX, 1);
    ep.store(rma, kY, 1);
  });
  CHECK(seen == std::set<std::pair<std::uint64_t, std::uint64_t>>{{0, 0}, {0, 1}, {1, 1}});
}

TEST_CASE("explore: posted stores happen in any order before their flush") {
  const auto seen = seen_while([](auto& ep) {
    ep.post_store(rma, kX, 1);
    ep.post_store(rma, kY, 1);
    ep.flush(0);
  });
  CHECK(seen.contains({1, 0}));
  CHECK(seen.size() == 4);
}

TEST_CASE("explore: order() orders posted stores and completes neither") {
  const auto ordered = seen_while([](auto& ep) {
    ep.post_store(rma, kX, 1);
    ep.order(0);
    ep.post_store(rma, kY, 1);
    ep.flush(0);
  });
  CHECK(ordered == std::set<std::pair<std::uint64_t, std::uint64_t>>{{0, 0}, {0, 1}, {1, 1}});
  // A blocking operation behind it waits for what was posted before it; one to another rank does
  // not.
  const auto blocking = seen_while([](auto& ep) {
    ep.post_store(rma, kX, 1);
    ep.order(0);
    ep.store(rma, kY, 1);
  });
  CHECK(blocking == ordered);
  const auto elsewhere = seen_while([](auto& ep) {
    ep.post_store(rma, kX, 1);
    ep.order(1);
    ep.store(rma, kY, 1);
  });
  CHECK(elsewhere.contains({1, 0}));
}

TEST_CASE("explore: an agent that tries again sees what it has posted before") {
  Scripted program({[](auto& ep) {
    ep.post_store(rma, kX, 1);
    const auto has_come = [&] { return ep.load(rma, kX) == 1; };
    ep.retry_until(has_come, fabric::Backoff::none(), Deadline::never());
  }});
  Explorer explorer(program);
  const auto report = explorer.exhaust(kAll);
  CHECK(report.complete);
  CHECK_FALSE(report.violation);
}

TEST_CASE("explore: order() leaves what was posted free to happen late") {
  bool late = false;
  Scripted program({[](auto& ep) {
                      ep.post_store(rma, kX, 1);
                      ep.order(0);
                      ep.store(cpu, {0, kY.offset() + 8}, 1);
                    },
                    [](auto&) {},
                    [&](auto& ep) {
                      const bool went_on = ep.load(cpu, {0, kY.offset() + 8}) == 1;
                      late = late || (went_on && ep.load(cpu, kX) == 0);
                    }});
  Explorer explorer(program);
  CHECK(explorer.exhaust(kAll).complete);
  CHECK_FALSE(late);  // the same rank: it had to wait
  Scripted other({[](auto& ep) {
                    ep.post_store(rma, {1, kX.offset()}, 1);
                    ep.order(1);
                    ep.store(cpu, kX, 1);
                  },
                  [](auto&) {},
                  [&](auto& ep) {
                    const bool went_on = ep.load(cpu, kX) == 1;
                    late = late || (went_on && ep.load(rma, {1, kX.offset()}) == 0);
                  }});
  Explorer again(other);
  CHECK(again.exhaust(kAll).complete);
  CHECK(late);
}

TEST_CASE(
    "explore: an order() between a posted store and a posted load makes Dekker's pattern work") {
  for (const bool ordered : {false, true}) {
    std::vector<std::uint64_t> seen(2);
    const auto part = [&](std::uint32_t me) {
      return [&seen, ordered, me](auto& ep) {
        ep.post_store(rma, me == 0 ? kX : kY, 1);
        if (ordered) ep.order(0);
        auto other = ep.post_load(rma, me == 0 ? kY : kX);
        seen[me] = other.value(ep.flush(0));
      };
    };
    Scripted program({part(0), part(1)}, [&]() -> std::string {
      return seen[0] == 0 && seen[1] == 0 ? "both missed the other's store" : "";
    });
    Explorer explorer(program);
    CHECK(explorer.exhaust(kAll).violation.has_value() == !ordered);
  }
}

TEST_CASE("explore: a flush between posted stores orders them") {
  const auto seen = seen_while([](auto& ep) {
    ep.post_store(rma, kX, 1);
    ep.flush(0);
    ep.post_store(rma, kY, 1);
    ep.flush(0);
  });
  CHECK_FALSE(seen.contains({1, 0}));
}

TEST_CASE("explore: a posted write takes its bytes when it happens") {
  std::uint64_t found = 0;
  std::set<std::uint64_t> values;
  std::uint64_t buffer = 0;
  Scripted program({[&](auto& ep) {
    buffer = 1;
    ep.post_write(rma, kX, std::as_bytes(std::span(&buffer, 1)));
    ep.load(rma, kY);
    buffer = 2;  // too early
    ep.flush(0);
    found = ep.load(rma, kX);
    values.insert(found);
  }});
  Explorer explorer(program);
  CHECK(explorer.exhaust(kAll).complete);
  CHECK(values == std::set<std::uint64_t>{1, 2});
}

TEST_CASE("explore: two agents that wait for each other are a deadlock that names both") {
  Scripted program({[](auto& ep) { ep.wait_until(kX, not_zero, Deadline::never()); },
                    [](auto& ep) {
                      ep.wait_until({1, kX.offset()}, not_zero, Deadline::never());
                    }});
  Explorer explorer(program);
  const auto report = explorer.exhaust(kAll);
  REQUIRE(report.violation);
  CHECK_THAT(report.violation->what, Catch::Contains("deadlock") && Catch::Contains("agent 0") &&
                                         Catch::Contains("agent 1"));
}

TEST_CASE("explore: an attempt that failed waits for a change, and spinning ends") {
  Scripted program({[](auto& ep) {
                      ep.retry_until([&] { return ep.load(rma, kX) == 3; }, fabric::Backoff::none(),
                                     Deadline::never());
                    },
                    [](auto& ep) {
                      for (int i = 0; i < 3; ++i) ep.fetch_add(rma, kX, 1);
                    }});
  Explorer explorer(program);
  const auto report = explorer.exhaust(kAll);
  CHECK(report.complete);
  CHECK_FALSE(report.violation);
  Scripted never({[](auto& ep) {
    ep.retry_until([&] { return ep.load(rma, kX) == 3; }, fabric::Backoff::none(),
                   Deadline::never());
  }});
  Explorer stuck(never);
  CHECK_THAT(stuck.exhaust(kAll).violation.value().what, Catch::Contains("again and again"));
}

TEST_CASE("explore: a lost update is found, and replays to the same trace from its line") {
  Explorer* explorer = nullptr;
  const Scripted::Part add = [](auto& ep) { ep.store(rma, kX, ep.load(rma, kX) + 1); };
  Scripted program({add, add}, [&] {
    const std::uint64_t sum = explorer->memory().load(kX);
    return sum == 2 ? "" : fmt::format("two increments made {}", sum);
  });
  Explorer made(program);
  explorer = &made;
  const auto found = made.exhaust(kAll);
  REQUIRE(found.violation);
  CHECK(found.violation->what == "two increments made 1");
  const auto once = made.replay(found.violation->schedule);
  const auto again = made.replay(found.violation->schedule);
  REQUIRE(once.violation);
  CHECK(once.violation->what == found.violation->what);
  CHECK(once.violation->trace == again.violation->trace);
  CHECK(once.violation->trace.size() == 4);
  CHECK_THAT(once.violation->trace.front(), Catch::Contains("load of word 0: 0x0"));

  const auto sampled = made.random(7, 1000);
  REQUIRE(sampled.violation);
  Explorer twin(program);
  explorer = &twin;
  CHECK(twin.random(7, 1000).violation->schedule == sampled.violation->schedule);
}

TEST_CASE("explore: a schedule of another program is refused with a sentence") {
  Scripted program({[](auto& ep) { ep.load(rma, kX); }});
  Explorer explorer(program);
  CHECK_THAT(explorer.replay("9").violation.value().what, Catch::Contains("another program"));
}

namespace {

// The possible results of two agents that share a word, the first on its node, the second not.
std::set<std::uint64_t> sums_of(const std::vector<Scripted::Part>& parts, bool split) {
  std::set<std::uint64_t> sums;
  Explorer* explorer = nullptr;
  Scripted program(parts, [&] {
    sums.insert(explorer->memory().load(kX));
    return "";
  });
  Explorer made(program, {.split_rma = split});
  explorer = &made;
  CHECK(made.exhaust(kAll).complete);
  return sums;
}

template <class Class>
Scripted::Part adds(Class access) {
  return [access](auto& ep) { ep.fetch_add(access, kX, 1); };
}
template <class Class>
Scripted::Part swaps_in_one_more(Class access) {
  return [access](auto& ep) {
    ep.retry_until(
        [&] {
          const std::uint64_t old = ep.load(access, kX);
          return ep.compare_swap(access, kX, old, old + 1) == old;
        },
        fabric::Backoff::none(), Deadline::never());
  };
}

}  // namespace

TEST_CASE("explore: cpu and rma atomics mixed naively lose updates, which only split_rma shows") {
  using Sums = std::set<std::uint64_t>;
  const std::vector<std::vector<Scripted::Part>> mixed = {
      {adds(cpu), adds(rma)},
      {adds(cpu), swaps_in_one_more(rma)},
      {swaps_in_one_more(cpu), adds(rma)},
      {swaps_in_one_more(cpu), swaps_in_one_more(rma)}};
  for (const auto& parts : mixed) {
    CHECK(sums_of(parts, true) == Sums{1, 2});
    CHECK(sums_of(parts, false) == Sums{2});
  }
  const std::vector<std::vector<Scripted::Part>> pure = {
      {adds(rma), adds(rma)}, {swaps_in_one_more(rma), swaps_in_one_more(rma)}};
  for (const auto& parts : pure) CHECK(sums_of(parts, true) == Sums{2});
}

TEST_CASE("explore: cpu and rma read-modify-writes on one word lose updates; one class does not") {
  // Agents 0 and 2 live with the word, agent 1 does not.
  const auto sum_of = [](const std::vector<Scripted::Part>& parts) {
    std::set<std::uint64_t> sums;
    Explorer* explorer = nullptr;
    Scripted program(parts, [&] {
      sums.insert(explorer->memory().load(kX));
      return "";
    });
    Explorer made(program, {.split_rma = true});
    explorer = &made;
    CHECK(made.exhaust(kAll).complete);
    return sums;
  };
  const Scripted::Part by_cpu = [](auto& ep) { ep.fetch_add(cpu, kX, 1); };
  const Scripted::Part by_rma = [](auto& ep) { ep.fetch_add(rma, kX, 1); };
  const Scripted::Part posted = [](auto& ep) {
    ep.post_fetch_add(rma, kX, 1);
    ep.flush(0);
  };
  const Scripted::Part cas = [](auto& ep) {
    ep.retry_until(
        [&] {
          const std::uint64_t old = ep.load(rma, kX);
          return ep.compare_swap(rma, kX, old, old + 1) == old;
        },
        fabric::Backoff::none(), Deadline::never());
  };
  CHECK(sum_of({by_cpu, by_rma}) == std::set<std::uint64_t>{1, 2});
  CHECK(sum_of({by_cpu, posted}) == std::set<std::uint64_t>{1, 2});
  CHECK(sum_of({by_cpu, cas}) == std::set<std::uint64_t>{1, 2});
  CHECK(sum_of({by_rma, by_rma, posted}) == std::set<std::uint64_t>{3});
  CHECK(sum_of({cas, by_rma}) == std::set<std::uint64_t>{2});
  CHECK(sum_of({by_cpu, [](auto&) {}, by_cpu}) == std::set<std::uint64_t>{2});
}
