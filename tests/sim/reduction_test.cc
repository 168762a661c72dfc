// Steps that are taken at once change nothing of what an exploration says, only what it costs.
#include <catch2/catch.hpp>
#include <set>

#include "keyway/tools/lockcheck/mutant.h"
#include "tests/sim/explored.h"
#include "tests/sim/scripted.h"

using namespace keyway;
using namespace keyway::test;
using fabric::rma;
using fabric::sim::Explorer;
using fabric::sim::ExploreReport;
using fabric::sim::Operation;
using fabric::sim::Sight;
using lockcheck::LockShape;
using lockcheck::Manner;

namespace {

constexpr std::uint64_t kAll = 5'000'000;
// Agent i's own words; kOpen belongs to all.
const fabric::Address kOwn[] = {{0, fabric::kReservedBytes}, {1, fabric::kReservedBytes + 8}};
const fabric::Address kOpen{0, fabric::kReservedBytes + 16};

Sight own_words(std::uint32_t agent, const Operation& op) {
  return op.at == kOwn[agent] ? Sight::kOwn : Sight::kSeen;
}

ExploreReport both_ways(Scripted& program, bool reduce) {
  Explorer explorer(program, {.reduce = reduce});
  return explorer.exhaust(kAll);
}

template <class L>
ExploreReport report_of(std::string_view kind, const LockShape& shape, bool split, bool reduce) {
  lockcheck::LockProgram<L> program(lock_of<L>(kind), shape);
  Explorer explorer(program, {.split_rma = split, .reduce = reduce});
  return explorer.exhaust(kAll);
}

/// The two searches say the same. How much smaller the reduced one is.
double compare(const ExploreReport& full, const ExploreReport& reduced) {
  CHECK(full.complete);
  CHECK(reduced.complete);
  CHECK_FALSE(full.violation);
  CHECK_FALSE(reduced.violation);
  CHECK(full.waiting.has_value() == reduced.waiting.has_value());
  if (full.waiting && reduced.waiting) {
    CHECK(full.waiting->bypass == reduced.waiting->bypass);
    CHECK(full.waiting->starving == reduced.waiting->starving);
    CHECK(full.waiting->livelock.has_value() == reduced.waiting->livelock.has_value());
    CHECK(full.waiting->unbounded.has_value() == reduced.waiting->unbounded.has_value());
  }
  CHECK(reduced.states <= full.states);
  return static_cast<double>(full.states) / static_cast<double>(reduced.states);
}

template <class L = locks::AnyLock>
void same_either_way(std::string_view kind, const LockShape& shape, bool split = false) {
  INFO("lockcheck --lock " << kind << lockcheck::flags_of(shape));
  const auto reduced = report_of<L>(kind, shape, split, true);
  const double smaller = compare(report_of<L>(kind, shape, split, false), reduced);
  // A spinlock's try is one operation on the lock's word, and its release another: all are seen.
  const bool bare = shape.manner == Manner::kTry && kind.ends_with("-spin");
  if (shape.manner != Manner::kTimed) CHECK(smaller > (bare ? 1 : 1.2));
}

}  // namespace

TEST_CASE("reduction: operations on words of their own make no states") {
  const auto adds = [](std::uint32_t agent) {
    return [agent](fabric::SimEndpoint& ep) {
      for (int n = 0; n < 5; ++n) ep.fetch_add(rma, kOwn[agent], 1);
    };
  };
  Scripted program({adds(0), adds(1)});
  program.set_sight(own_words);
  CHECK(both_ways(program, false).states == 36);
  CHECK(both_ways(program, true).states == 1);
  // But in a replay they are there.
  Explorer explorer(program);
  CHECK(explorer.replay("").longest == 10);
}

TEST_CASE("reduction: an operation that is posted may still come too late") {
  for (const bool flushes : {false, true}) {
    std::set<std::uint64_t> seen;
    Scripted program({[&](auto& ep) {
                        ep.post_store(rma, kOwn[0], 7);
                        if (flushes) ep.flush(0);
                        ep.store(rma, kOpen, 1);  // from here on others know of the word
                      },
                      [&](auto& ep) {
                        ep.wait_until(
                            kOpen, [](std::uint64_t v) { return v != 0; }, Deadline::never());
                        seen.insert(ep.load(rma, kOwn[0]));
                      }});
    program.set_sight([](std::uint32_t agent, const Operation& op) {
      return op.at == kOwn[0] && agent == 0 ? Sight::kOwn : Sight::kSeen;
    });
    CHECK(both_ways(program, true).complete);
    CHECK(seen == (flushes ? std::set<std::uint64_t>{7} : std::set<std::uint64_t>{0, 7}));
  }
}

TEST_CASE("reduction: a posted operation that makes a word known keeps it from being taken") {
  std::set<std::uint64_t> seen;
  Scripted program({[](auto& ep) {
                      ep.post_store(rma, kOpen, 1);
                      ep.store(rma, kOwn[0], 7);
                    },
                    [&](auto& ep) {
                      if (ep.load(rma, kOpen) == 1) seen.insert(ep.load(rma, kOwn[0]));
                    }});
  Explorer explorer(program);
  program.set_sight([&](std::uint32_t agent, const Operation& op) {
    return explorer.memory().load(kOpen) == 0 ? own_words(agent, op) : Sight::kSeen;
  });
  CHECK(explorer.exhaust(kAll).complete);
  CHECK(seen == std::set<std::uint64_t>{0, 7});
}

TEST_CASE("reduction: what nobody looks at is no choice, also while it is posted") {
  Scripted program({[](auto& ep) {
                      ep.post_store(rma, kOpen, 1);
                      ep.load(rma, kOwn[0]);
                      ep.flush(0);
                    },
                    [](auto& ep) { ep.store(rma, kOpen, 2); }});
  program.set_sight([](std::uint32_t, const Operation& op) {
    return op.at == kOpen ? Sight::kUnseen : Sight::kSeen;
  });
  const auto full = both_ways(program, false);
  const auto reduced = both_ways(program, true);
  CHECK(full.complete);
  CHECK(reduced.states == 2);  // before and after the load
}

TEST_CASE("reduction: agents that go on by themselves for ever hold up nobody") {
  bool ended = false;
  Scripted program({[](auto& ep) {
                      while (ep.fetch_add(rma, kOwn[0], 0) == 0) {
                      }
                    },
                    [&](auto& ep) {
                      ep.store(rma, kOpen, 1);
                      ended = true;
                    }});
  program.set_sight(own_words);
  Explorer explorer(program);
  const auto report = explorer.exhaust(200);  // as many states as you like: it counts its turns
  CHECK(report.states >= 200);
  CHECK(ended);
}

TEST_CASE("reduction: every kind says the same, of agents that acquire, try and ask once") {
  for (const char* kind : {"fompi-spin", "gbh:lockall=off", "fompi-rw", "d-mcs", "mcs-wp",
                           "rma-mcs:t_l=1", "rma-rw:t_r=1,t_l1=1,t_dc=2", "rma-rw:t_r=2,t_l1=2"}) {
    for (const Manner manner : {Manner::kWait, Manner::kTry, Manner::kTimed}) {
      if (kSmall && manner == Manner::kTimed) continue;
      same_either_way(kind, {.readers = 1, .writers = 1, .nodes = 3, .manner = manner});
      same_either_way(kind, {.writers = 2, .nodes = 3, .manner = manner, .ask_token = true});
    }
    if (!kSmall) same_either_way(kind, {.readers = 1, .writers = 1, .rounds = 2, .nodes = 3});
  }
  for (const char* kind : {"alock:local_budget=1,remote_budget=1", "alock-rw", "rdma-spin"}) {
    for (const Manner manner : {Manner::kWait, Manner::kTry, Manner::kTimed}) {
      if (kSmall && manner != Manner::kTry) continue;
      same_either_way(kind, {.readers = 1, .writers = 1, .manner = manner}, true);
    }
  }
}

TEST_CASE("reduction: every kind says the same about agents that come again for ever") {
  using FewPhases = locks::BasicRmaRw<locks::BasicCounterWord<2, 1, 3>>;
  for (const char* kind : {"fompi-spin", "gbh:lockall=off", "d-mcs", "mcs-wp"}) {
    same_either_way(kind, {.writers = 2, .forever = true});
    same_either_way(kind, {.readers = 1, .writers = 1, .forever = true});
  }
  same_either_way<FewPhases>("rma-rw:t_r=1,t_l1=1,t_dc=2",
                             {.readers = 1, .writers = 1, .topology = "nodes=1", .forever = true});
  if (kSmall) return;
  same_either_way("d-mcs", {.writers = 3, .forever = true});
  same_either_way("rma-mcs:t_l=1", {.writers = 2, .forever = true});
  same_either_way("alock:local_budget=1,remote_budget=1,swap=on", {.writers = 2, .forever = true},
                  true);
}

TEST_CASE("reduction: every kind says the same of three agents", "[.long][few]") {
  for (const char* kind :
       {"fompi-spin", "gbh:lockall=off", "d-mcs", "mcs-wp", "rma-rw:t_r=1,t_l1=1,t_dc=2"}) {
    for (const Manner manner : {Manner::kWait, Manner::kTry}) {
      same_either_way(kind, {.readers = 2, .writers = 1, .topology = "nodes=1", .manner = manner});
      same_either_way(kind, {.readers = 1, .writers = 2, .topology = "nodes=1", .manner = manner});
    }
  }
  same_either_way("rma-mcs:t_l=1", {.writers = 3, .ranks = 4, .topology = "nodes=2", .nodes = 3});
  same_either_way("alock:local_budget=1,remote_budget=1", {.writers = 3}, true);
}

TEST_CASE("reduction: the full search kills the same mutants", "[.long][few]") {
  for (const auto& mutant : lockcheck::all_mutants()) {
    CAPTURE(mutant.name);
    const auto program = mutant.make(mutant.shape);
    auto options = mutant.explorer;
    options.reduce = false;
    Explorer explorer(*program, options);
    CHECK(explorer.exhaust(kAll).violation);
  }
}
