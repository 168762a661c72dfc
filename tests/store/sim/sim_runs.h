// The two workloads of the store's tests, run in simulation: the results, and a hash of all of
// them.
#pragma once

#include <optional>
#include <string>

#include "tests/store/record.h"
#include "tests/store/recorded.h"
#include "tests/store/sim/sim_store.h"
#include "tests/store/transfers.h"
#include "tests/support/linearizability.h"

namespace keyway::test {

/// The part that two runs of one seed have in common.
struct SimPrint {
  std::uint64_t history = 0;  // all operations, in order, with their results
  double time_ns = 0;
  std::uint64_t events = 0;

  bool operator==(const SimPrint&) const = default;
};

/// FNV-1a over the words of the events.
inline std::uint64_t hash_of(const History& history) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](auto word) {
    for (int shift = 0; shift < 64; shift += 8) {
      hash = (hash ^ (static_cast<std::uint64_t>(word) >> shift & 0xff)) * 0x100000001b3;
    }
  };
  for (const Event& e : history) {
    add(e.invoked);
    add(e.answered);
    add(e.argument);
    add(e.expected);
    add(e.result);
    add(e.key);
    add(e.agent);
    add(static_cast<unsigned>(e.op));
    add(static_cast<unsigned>(e.answer));
    add(e.second.argument);
    add(e.second.result);
    add(e.second.key);
    add(static_cast<unsigned>(e.second.answer));
  }
  return hash;
}

/// Enough keys that about four agents meet on each pair: with more, the search for an order is
/// long.
inline RecordPlan record_plan(const SimPlan& plan, std::uint32_t rounds) {
  return {
      .rounds = rounds, .keys = std::max(2u, plan.ranks / 2), .operations = 5, .seed = plan.seed};
}

/// The source of an agent's session: SimStore::session(), or one with a fault.
template <class E>
auto plain_sessions(SimStore<E>& store) {
  return [&store](std::uint32_t me) { return store.session(me); };
}

template <class E>
SimPrint print_of(SimStore<E>& store, const History& history) {
  return {hash_of(history), store.fabric().time_ns(), store.fabric().stats().events};
}

/// Every agent moves money and checks the sum, `actions` times. Returns an error that one of them
/// found.
template <class E, class Open>
std::string transfer_in(SimStore<E>& store, std::uint64_t seed, std::uint32_t actions,
                        Open&& open) {
  const SimTeam team(store);
  auto barrier = team.barrier();
  team.run([&](std::uint32_t me) {
    const auto session = open(me);
    Teller<std::remove_reference_t<decltype(*session)>> teller(*session, me, seed);
    if (me == 0 && !teller.open_accounts().ok()) barrier.fail("opening the accounts");
    barrier.arrive_and_wait(me);
    for (std::uint32_t i = 0; i < actions && !barrier.failed(); ++i) {
      if (auto wrong = teller.act()) barrier.fail(*wrong);
    }
    barrier.arrive_and_wait(me);
    if (barrier.failed()) return;
    if (auto wrong = teller.count()) barrier.fail(*wrong);
  });
  return barrier.failure();
}

/// After all agents have ended: live, free and leased bytes are the heap, also when all is erased.
template <class E, class Open>
void check_after(SimStore<E>& store, Open&& open) {
  const auto walker = open(0);
  check_volumes(*walker, store.ranks());
  REQUIRE(walker->clear().ok());
  check_volumes(*walker, store.ranks());
  CHECK(*walker->size() == 0);
}

}  // namespace keyway::test
