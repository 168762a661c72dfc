// Store buffers and stores that happen twice: how the explorer handles them, and that every kind
// tolerates them.
#include <catch2/catch.hpp>
#include <set>
#include <utility>

#include "tests/sim/explored.h"
#include "tests/sim/scripted.h"

using namespace keyway;
using namespace keyway::lockcheck;
using fabric::cpu;
using fabric::rma;
using fabric::sim::Explorer;
using test::explored;
using test::kBuffers;
using test::kSmall;
using test::kTwice;
using test::Scripted;

namespace {

constexpr std::uint64_t kAll = 100'000;
// Agents 0 and 2 live at the rank of these.
const fabric::Address kX{0, fabric::kReservedBytes}, kY{0, fabric::kReservedBytes + 16};

using Part = Scripted::Part;
using Pairs = std::set<std::pair<std::uint64_t, std::uint64_t>>;

void nothing(fabric::SimEndpoint&) {}

void exhaust(Scripted& program, const fabric::sim::ExploreOptions& options) {
  for (const bool reduce : {true, false}) {
    auto how = options;
    how.reduce = reduce;
    Explorer explorer(program, how);
    const auto report = explorer.exhaust(kAll);
    INFO((report.violation ? report.violation->what : ""));
    CHECK(report.complete);
    CHECK_FALSE(report.violation);
  }
}

/// Two agents each store to a word and load the other's: all pairs of values that they may see.
template <class Between>
Pairs dekker(const fabric::sim::ExploreOptions& options, Between between) {
  std::uint64_t of_first = 0, of_second = 0;
  Pairs seen;
  Scripted program({[&](auto& ep) {
                      ep.store(cpu, kX, 1);
                      between(ep);
                      of_first = ep.load(cpu, kY);
                    },
                    nothing,
                    [&](auto& ep) {
                      ep.store(cpu, kY, 1);
                      between(ep);
                      of_second = ep.load(cpu, kX);
                    }},
                   [&] {
                     seen.insert({of_first, of_second});
                     return "";
                   });
  exhaust(program, options);
  return seen;
}

}  // namespace

TEST_CASE("store buffers: who stores and looks may miss the other, unless a fence is between") {
  const auto no_fence = [](auto&) {};
  const Pairs in_order{{0, 1}, {1, 0}, {1, 1}}, all{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  CHECK(dekker({}, no_fence) == in_order);
  CHECK(dekker(kBuffers, no_fence) == all);
  CHECK(dekker(kBuffers, [](auto& ep) { ep.fence(); }) == in_order);
  CHECK(dekker(kBuffers, [](auto& ep) { ep.order(0); }) == in_order);
  CHECK(dekker(kBuffers, [](auto& ep) { ep.fetch_add(cpu, kX + 32, 1); }) == in_order);
  CHECK(dekker(kBuffers, [](auto& ep) { ep.store(rma, kX + 32, 1); }) == in_order);
  // A flush completes what was posted; a processor's store was not (O6).
  CHECK(dekker(kBuffers, [](auto& ep) { ep.flush(0); }) == all);
  CHECK(dekker(kBuffers, [](auto& ep) { ep.order(1); }) == all);
}

TEST_CASE("store buffers: stores are seen in order, and by their own agent at once") {
  Pairs seen;
  Scripted program({[&](auto& ep) {
                      ep.store(cpu, kX, 1);
                      ep.store(cpu, kY, 1);
                      ep.store(cpu, kX, 2);
                      if (ep.load(cpu, kX) != 2) seen.insert({9, 9});
                      const auto mine = ep.wait_until(
                          kY, [](std::uint64_t v) { return v == 1; }, Deadline::never());
                      if (mine.value != 1) seen.insert({9, 9});
                    },
                    nothing,
                    [&](auto& ep) {
                      const std::uint64_t y = ep.load(cpu, kY);
                      seen.insert({y, ep.load(cpu, kX)});
                    }});
  exhaust(program, kBuffers);
  CHECK(seen == Pairs{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}});
}

TEST_CASE("store buffers: an rma operation that others can see comes behind the stores before it") {
  for (const bool posted : {false, true}) {
    Pairs seen;
    Scripted program({[&](auto& ep) {
                        ep.store(cpu, kX, 1);
                        posted ? ep.post_store(rma, kY, 1) : ep.store(rma, kY, 1);
                        ep.flush(0);
                      },
                      [&](auto& ep) {
                        const std::uint64_t y = ep.load(rma, kY);
                        seen.insert({y, ep.load(rma, kX)});
                      }});
    exhaust(program, kBuffers);
    CHECK(seen == Pairs{{0, 0}, {0, 1}, {1, 1}});
  }
}

TEST_CASE("store buffers: a store behind an order comes behind what was posted before it") {
  for (const bool ordered : {false, true}) {
    Pairs seen;
    Scripted program({[&](auto& ep) {
                        ep.post_store(rma, kX, 1);
                        if (ordered) ep.order(0);
                        ep.store(cpu, kY, 1);
                        ep.flush(0);
                      },
                      [&](auto& ep) {
                        const std::uint64_t y = ep.load(rma, kY);
                        seen.insert({y, ep.load(rma, kX)});
                      }});
    exhaust(program, kBuffers);
    CHECK(seen.contains({1, 0}) == !ordered);
    CHECK(seen.contains({1, 1}));
  }
}

TEST_CASE("double stores: who has seen one by a cpu load may find its own store undone") {
  const auto last = [](const fabric::sim::ExploreOptions& options, auto see) {
    std::set<std::uint64_t> left;
    Scripted* made = nullptr;
    Scripted program({[&](auto& ep) {
                        if (see(ep)) ep.store(cpu, kX, 7);
                      },
                      [&](auto& ep) { ep.store(rma, kX, 1); }},
                     [&] {
                       left.insert(made->endpoint(0).load(rma, kX));
                       return "";
                     });
    made = &program;
    exhaust(program, options);
    return left;
  };
  const std::set<std::uint64_t> kept{1, 7};
  const auto by_load = [](auto& ep) { return ep.load(cpu, kX) == 1; };
  const auto by_rma = [](auto& ep) { return ep.load(rma, kX) == 1; };
  CHECK(last({}, by_load) == kept);
  CHECK(last(kTwice, by_rma) == kept);
  // Here the store of 7 is undone if the load came between the two.
  std::uint64_t undone = 0;
  Scripted* made = nullptr;
  bool stored = false;
  Scripted program({[&](auto& ep) {
                      stored = ep.load(cpu, kX) == 1;
                      if (stored) ep.store(cpu, kX, 7);
                    },
                    [&](auto& ep) { ep.store(rma, kX, 1); }},
                   [&] {
                     undone += stored && made->endpoint(0).load(rma, kX) == 1 ? 1 : 0;
                     return "";
                   });
  made = &program;
  exhaust(program, {});
  CHECK(undone == 0);
  exhaust(program, kTwice);
  CHECK(undone > 0);
  const auto by_wait = [](auto& ep) {
    ep.wait_until(
        kX, [](std::uint64_t v) { return v == 1; }, Deadline::never());
    return true;
  };
  CHECK(last(kTwice, by_wait) == std::set<std::uint64_t>{7});
}

TEST_CASE("explore: every kind with store buffers, every order") {
  for (const std::string_view kind : locks::AnyLock::kNames) {
    explored(kind, {.writers = 2, .ranks = 1, .nodes = 3}, kBuffers);
    explored(kind, {.readers = 1, .writers = 1, .nodes = 3}, kBuffers);
    if (kSmall) continue;
    explored(kind, {.writers = 2, .nodes = 3}, kBuffers);
    explored(kind, {.readers = 1, .writers = 1, .ranks = 1, .nodes = 3}, kBuffers);
    explored(kind, {.writers = 2, .ranks = 1, .nodes = 3, .manner = Manner::kTimed}, kBuffers);
  }
}

TEST_CASE("explore: every kind with stores that happen twice, every order") {
  for (const std::string_view kind : locks::AnyLock::kNames) {
    explored(kind, {.writers = 2, .nodes = 3}, kTwice);
    if (kSmall) continue;
    explored(kind, {.readers = 1, .writers = 1, .nodes = 3}, kTwice);
  }
  if (kSmall) return;
  LockShape again{.writers = 2, .rounds = 2, .ranks = 3, .homes = {1, 2}, .nodes = 1};
  for (const char* kind : {"d-mcs", "alock:local_budget=1,remote_budget=1"}) {
    again.manners = {};
    explored(kind, again, kTwice);
    // A wait that times out finds a grant by a load, and the node waits again afterwards (O5).
    again.manners = {Manner::kTimed, Manner::kWait};
    explored(kind, again, kTwice);
  }
}

TEST_CASE("explore: three agents with store buffers and with double stores", "[.long][buffers]") {
  const LockShape tree{.ranks = 4, .topology = "nodes=2", .nodes = 3};
  for (const auto& options : {kBuffers, kTwice}) {
    for (const char* kind :
         {"fompi-spin", "d-mcs", "mcs-wp", "rma-mcs:t_l=1", "rma-rw:t_r=1,t_l1=1,t_l=1",
          "alock:local_budget=1,remote_budget=1", "alock-rw:local_budget=1,remote_budget=1"}) {
      LockShape shape = tree;
      shape.writers = 3;
      explored(kind, shape, options);
      shape.readers = 1;
      shape.writers = 2;
      explored(kind, shape, options);
    }
  }
}
