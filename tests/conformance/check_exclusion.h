// Checks: mutual exclusion under load, completion at release, tokens, many locks at once.
#pragma once

#include <algorithm>
#include <numeric>

#include "tests/conformance/world.h"

namespace keyway::conformance {

using locks::Mode;

/// One visit in a random mode: shared if the kind shares, else exclusive.
template <class A, class L>
void visit(A& me, const L& lock, std::uint32_t k, Mode mode) {
  auto held = me.hold(lock, k, mode);
  if (mode == Mode::kRead && lock.traits().readers_share) {
    visit_shared(me, k);
  } else {
    visit_alone(me, k, held, me.rng().below(2) == 0);
  }
}

/// After a meeting: every lock is free and no update is lost.
template <class A, class L>
void expect_books_balance(A& me, const L& lock, std::uint32_t locks) {
  me.arrive_and_wait();
  if (!me.is(0)) return;
  for (std::uint32_t k = 0; k < locks; ++k) {
    auto held = me.hold_at_once(lock, k, Mode::kWrite);
    read_record(me, k);
  }
}

/// L1, L3, L4 and that all agents are granted: random readers and writers on one lock.
template <class World, class L>
Outcome visit_at_random(const L& lock, const Setting& setting, std::uint32_t agents) {
  const Shape shape{.agents = agents, .locks = 1};
  return run_check<World>(shape, setting, [&](auto& me) {
    for (std::uint32_t round = 0; round < setting.rounds; ++round) {
      visit(me, lock, 0, me.rng().below(2) == 0 ? Mode::kRead : Mode::kWrite);
    }
    expect_books_balance(me, lock, shape.locks);
  });
}

template <class World, class L>
Outcome check_exclusion(const L& lock, const Setting& setting) {
  return visit_at_random<World>(lock, setting, 4);
}

/// With two agents a queue is often just forming when its only member leaves.
template <class World, class L>
Outcome check_pair(const L& lock, const Setting& setting) {
  return visit_at_random<World>(lock, setting, 2);
}

/// The same with as many tries and short deadlines as plain acquires: L1 and L2 together.
template <class World, class L>
Outcome check_mixed_calls(const L& lock, const Setting& setting) {
  // A node more than calls: a holder that is slow must not make the others run out.
  const Shape shape{.agents = 4, .locks = 1, .nodes_per_agent = setting.rounds + 1};
  return run_check<World>(shape, setting, [&](auto& me) {
    for (std::uint32_t round = 0; round < setting.rounds; ++round) {
      const Mode mode = me.rng().below(2) == 0 ? Mode::kRead : Mode::kWrite;
      const auto call = me.rng().below(4);
      if (call == 0) {
        visit(me, lock, 0, mode);
        continue;
      }
      auto held = call == 1
                      ? me.try_acquire(lock, 0, mode)
                      : me.acquire(lock, 0, mode,
                                   Deadline::at_ns(me.ep().now_ns() + me.rng().below(20'000)));
      if (!held.ok()) {
        me.expect(held.code() == (call == 1 ? Code::kBusy : Code::kTimeout),
                  "L2: a failed acquire said {}", held.status().message());
      } else if (mode == Mode::kRead && lock.traits().readers_share) {
        visit_shared(me, 0);
      } else {
        visit_alone(me, 0, *held, true);
      }
    }
    expect_books_balance(me, lock, shape.locks);
  });
}

/// L3, step by step: data that a writer posts is complete for the next one, and data that a reader
/// has requested is from the time when it held the lock.
template <class World, class L>
Outcome check_release_completes(const L& lock, const Setting& setting) {
  const Shape shape{.agents = 2, .locks = 3};
  return run_check<World>(shape, setting, [&](auto& me) {
    std::vector<Record> asked(shape.locks);
    for (std::uint32_t round = 1; round <= 8; ++round) {
      for (std::uint32_t k = 0; me.is(0) && k < shape.locks; ++k) {
        auto held = me.hold(lock, k, Mode::kWrite);
        visit_alone(me, k, held, false);
      }
      me.meet();
      for (std::uint32_t k = 0; me.is(1) && k < shape.locks; ++k) {
        auto held = me.hold(lock, k, Mode::kRead);
        const Record now = read_record(me, k);
        me.expect(now.version == round, "L3: record {} is at version {} after release {}", k,
                  now.version, round);
        me.ep().post_read(fabric::rma, me.plan().record(k),
                          std::as_writable_bytes(std::span(&asked[k], 1)));
      }
      me.meet();
      for (std::uint32_t k = 0; me.is(1) && k < shape.locks; ++k) {
        me.expect(asked[k].version == round,
                  "L3: release of lock {} left a reader's posted read incomplete", k);
      }
    }
  });
}

/// L4: tokens of one lock grow over all agents, one by one: a grant that does not ask has none.
template <class World, class L>
Outcome check_tokens(const L& lock, const Setting& setting) {
  const Shape shape{.agents = 3, .locks = 2};
  return run_check<World>(shape, setting, [&](auto& me) {
    for (std::uint32_t round = 0; round < 12 * me.agents(); ++round) {
      me.arrive_and_wait();
      if (!me.is(round % me.agents())) continue;
      for (std::uint32_t k = 0; k < shape.locks; ++k) {
        auto held = me.hold_at_once(lock, k, Mode::kWrite);
        if (round % 3 == 1) continue;
        // A holder may ask for its token late, after any number of posted operations.
        for (int posts = 0; round % 3 == 2 && posts < 500; ++posts) {
          me.ep().post_load(fabric::rma, me.plan().record(k));
        }
        const std::uint64_t token = held.token();
        me.expect(token == held.token(), "L4: the token of one grant changed");
        const std::uint64_t last = me.get(kFreeWords + k);
        me.expect(token == last + 1, "L4: lock {} gave token {} after {}", k, token, last);
        me.set(kFreeWords + k, token);
      }
      if (!lock.traits().readers_share) continue;
      auto held = me.hold_at_once(lock, 0, Mode::kRead);
      me.expect(held.token() == 0, "L4: a shared grant has token {}", held.token());
    }
  });
}

/// An agent holds many locks at once and gives them back in another order.
template <class World, class L>
Outcome check_many_locks(const L& lock, const Setting& setting) {
  // A tree of queues takes a node for each level; no world here has more than two.
  const Shape shape{
      .agents = 3, .locks = 16, .nodes_per_agent = lock.traits().satellites ? 48u : 16u};
  return run_check<World>(shape, setting, [&](auto& me) {
    using Guard = decltype(me.hold(lock, 0, Mode::kWrite));
    std::vector<std::uint32_t> order(shape.locks);
    std::iota(order.begin(), order.end(), 0);
    for (std::uint32_t round = 0; round < setting.rounds / 8; ++round) {
      std::vector<Guard> guards;
      for (std::uint32_t k = 0; k < shape.locks; ++k) {
        guards.push_back(me.hold(lock, k, Mode::kWrite));
      }
      for (std::uint32_t k = 0; k < shape.locks; ++k) {
        visit_alone(me, k, guards[k], k % 2 == 0);
      }
      std::shuffle(order.begin(), order.end(), me.rng());
      for (const auto k : order) guards[k].release();
    }
    expect_books_balance(me, lock, shape.locks);
  });
}

}  // namespace keyway::conformance
