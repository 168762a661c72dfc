// The modes for what is too large to exhaust, deadlines, and the checks of each operation.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "tests/sim/scripted.h"

using namespace keyway;
using namespace keyway::test;
using fabric::rma;
using fabric::sim::Explorer;

namespace {

constexpr std::uint64_t kAll = 1'000'000;
const fabric::Address kX{0, fabric::kReservedBytes};
const fabric::Address kY{0, fabric::kReservedBytes + 8};
const auto not_zero = [](std::uint64_t v) { return v != 0; };

// Agents that each add to X, without a lock, `times` times. Wrong when any addition is lost.
struct Losing {
  explicit Losing(std::uint32_t agents, int times = 1)
      : program(std::vector<Scripted::Part>(agents,
                                            [times](auto& ep) {
                                              for (int i = 0; i < times; ++i) {
                                                ep.store(rma, kX, ep.load(rma, kX) + 1);
                                              }
                                            }),
                [this, agents, times] {
                  const std::uint64_t all = agents * static_cast<std::uint64_t>(times);
                  return explorer.memory().load(kX) == all ? "" : "lost";
                }),
        explorer(program) {}
  Scripted program;
  Explorer explorer;
};

// Wrong only when agent 1 loads X after the second store of agent 0 and again after the fourth:
// agent 0 is left for it, it for agent 0, and agent 0 for it once more.
struct Deep {
  Deep()
      : program({[](auto& ep) {
                   for (std::uint64_t i = 1; i <= 6; ++i) ep.store(rma, kX, i);
                 },
                 [this](auto& ep) {
                   first = ep.load(rma, kX);
                   second = ep.load(rma, kX);
                 }},
                [this] { return first == 2 && second == 4 ? "seen" : ""; }),
        explorer(program) {}
  std::uint64_t first = 0, second = 0;
  Scripted program;
  Explorer explorer;
};

}  // namespace

TEST_CASE("preemptions: none loses no update, one does, and bounds come in order") {
  Losing two(2);
  const auto none = two.explorer.bounded(0, kAll);
  CHECK_FALSE(none.violation);
  CHECK_FALSE(none.complete);
  CHECK(none.by_preemptions.size() == 1);
  const auto one = two.explorer.bounded(1, kAll);
  REQUIRE(one.violation);
  CHECK(one.by_preemptions.size() == 1);  // found with exactly one
  CHECK(two.explorer.replay(one.violation->schedule).violation.value().trace ==
        one.violation->trace);
}

TEST_CASE("preemptions: a defect that needs three is found with three and not with two") {
  Deep deep;
  CHECK_FALSE(deep.explorer.bounded(2, kAll).violation);
  CHECK(deep.explorer.bounded(3, kAll).violation);
}

TEST_CASE("preemptions: with enough of them every state is seen") {
  const Scripted::Part posts = [](auto& ep) {
    ep.post_store(rma, kX, 1);
    ep.post_store(rma, kY, 1);
    ep.flush(0);
    ep.load(rma, kX);
  };
  const Scripted::Part waits = [](auto& ep) {
    ep.wait_until(kX, not_zero, Deadline::never());
    ep.load(rma, kY);
  };
  Scripted program({waits, posts, posts});
  Explorer explorer(program);
  const auto every = explorer.exhaust(kAll);
  const auto bounded = explorer.bounded(100, kAll);
  CHECK(every.complete);
  CHECK(bounded.complete);
  CHECK(bounded.states == every.states);
  CHECK(std::is_sorted(bounded.by_preemptions.begin(), bounded.by_preemptions.end()));
}

TEST_CASE("preemptions: leaving an agent that waits is none") {
  Scripted program({[](auto& ep) { ep.wait_until(kX, not_zero, Deadline::never()); },
                    [](auto& ep) {
                      ep.store(rma, {1, kX.offset()}, 1);
                      ep.store(rma, kX, 1);
                    },
                    [](auto& ep) {
                      ep.retry_until([&] { return ep.load(rma, kX) == 1; }, fabric::Backoff::none(),
                                     Deadline::never());
                    }});
  Explorer explorer(program);
  const auto report = explorer.bounded(0, kAll);
  CHECK_FALSE(report.violation);  // above all no deadlock without a switch
  CHECK(report.states > 3);
}

TEST_CASE("pct: finds what needs ordered steps, the same by the same seed") {
  Losing many(4, 2);
  const auto found = many.explorer.pct(5, 1000, 2);
  REQUIRE(found.violation);
  CHECK(found.executions <= 1000);
  Losing twin(4, 2);
  const auto again = twin.explorer.pct(5, 1000, 2);
  CHECK(again.violation.value().schedule == found.violation->schedule);
  CHECK(again.executions == found.executions);
  CHECK(twin.explorer.replay(found.violation->schedule).violation.value().trace ==
        found.violation->trace);
}

TEST_CASE("pct: depth 1 has no change of priorities, so nobody is preempted") {
  Losing two(2);
  CHECK_FALSE(two.explorer.pct(1, 2000, 1).violation);
  CHECK(two.explorer.pct(1, 2000, 2).violation);
  Deep deep;
  CHECK_FALSE(deep.explorer.pct(1, 2000, 3).violation);
  CHECK(deep.explorer.pct(1, 20'000, 4).violation);
}

TEST_CASE("random schedules: agents that never end are cut") {
  Scripted program({[](auto& ep) {
    while (true) ep.fetch_add(rma, kX, 1);
  }});
  Explorer explorer(program, {.most_steps = 50});
  const auto report = explorer.random(1, 3);
  CHECK(report.cut == 3);
  CHECK(report.longest == 50);
}

TEST_CASE("random schedules: an agent that is cut leaves a destructor that tries again") {
  // As the release of a queue lock does.
  struct Emptied {
    fabric::SimEndpoint& ep;
    ~Emptied() {
      while (ep.compare_swap(rma, kX, 1, 0) != 1) {
      }
    }
  };
  Scripted program({[](auto& ep) {
    ep.store(rma, kX, 1);
    const Emptied emptied{ep};
    while (true) ep.load(rma, kY);
  }});
  Explorer explorer(program, {.most_steps = 10});
  CHECK(explorer.random(1, 5).cut == 5);
}

// --- deadlines

TEST_CASE("deadlines: a wait times out whenever it is not satisfied, or not at all") {
  std::set<std::pair<bool, std::uint64_t>> ends;
  Scripted program({[&](auto& ep) {
                      const auto waited = ep.wait_until(
                          kX, not_zero, Deadline::within(std::chrono::microseconds(3)));
                      ends.insert({waited.expired, ep.now_ns()});
                    },
                    [](auto& ep) { ep.store(rma, kX, 1); }});
  Explorer explorer(program);
  const auto report = explorer.exhaust(kAll);
  CHECK(report.complete);
  CHECK_FALSE(report.violation);
  CHECK(ends == std::set<std::pair<bool, std::uint64_t>>{{false, 0}, {true, 3000}});
}

TEST_CASE("deadlines: an attempt may be the last, after any failure") {
  std::set<int> attempts;
  Scripted program({[&](auto& ep) {
                      int made = 0;
                      const bool ok = ep.retry_until(
                          [&] {
                            ++made;
                            return ep.load(rma, kX) == 2;
                          },
                          fabric::Backoff::none(), Deadline::within(std::chrono::microseconds(1)));
                      attempts.insert(ok ? 0 : made);
                    },
                    [](auto& ep) {
                      ep.store(rma, kX, 1);
                      ep.store(rma, kX, 2);
                    }});
  Explorer explorer(program);
  CHECK(explorer.exhaust(kAll).complete);
  CHECK(attempts == std::set<int>{0, 1, 2});
}

TEST_CASE("deadlines: patience of a second does not pass, so a lost wake-up is still a deadlock") {
  Scripted program({[](auto& ep) {
    while (ep.wait_until(kX, not_zero, Deadline::within(std::chrono::seconds(1))).expired) {
    }
  }});
  Explorer explorer(program);
  CHECK_THAT(explorer.exhaust(kAll).violation.value().what, Catch::StartsWith("deadlock"));
}

// --- each operation

TEST_CASE("observe: an operation beyond memory is a violation, not a crash") {
  Scripted program({[](auto& ep) { ep.store(rma, {0, 1 << 20}, 1); }});
  Explorer explorer(program);
  CHECK_THAT(explorer.exhaust(kAll).violation.value().what, Catch::StartsWith("footprint"));
}

TEST_CASE("a wait of the verdict that cannot end is a violation, not a hang") {
  Explorer* explorer = nullptr;
  std::function<std::string()> end;
  Scripted program({[](auto& ep) { ep.load(rma, kX); }}, [&] { return end(); });
  Explorer made(program);
  explorer = &made;
  end = [&] {
    program.endpoint(0).wait_until(kX, not_zero, Deadline::never());
    return std::string();
  };
  CHECK_THAT(explorer->exhaust(kAll).violation.value().what, Catch::StartsWith("L2"));
}
