// Checks: giving up. L2: an agent that gives up leaves nothing behind that could delay others.
#pragma once

#include "keyway/locks/distributed/queue_tree.h"
#include "tests/conformance/check_exclusion.h"

namespace keyway::conformance {

/// Waiters give up several times in a row while the lock is held; then it is passed on as if they
/// had never come, with and without another waiter behind them.
template <class World, class L>
Outcome check_giving_up(const L& lock, const Setting& setting) {
  const Shape shape{.agents = 4, .nodes_per_agent = 8};
  return run_check<World>(shape, setting, [&](auto& me) {
    for (std::uint32_t round = 0; round < 8; ++round) {
      const bool somebody_waits = round % 2 == 0;
      const std::uint32_t begun = kFreeWords;  // the last agent is about to wait
      {
        std::optional<decltype(me.hold(lock, 0, Mode::kWrite))> held;
        if (me.is(0)) held.emplace(me.hold(lock, 0, Mode::kWrite));
        me.arrive_and_wait();
        for (int times = 0; !me.is(0) && times < 3; ++times) {
          const Mode mode = me.rng().below(2) == 0 ? Mode::kRead : Mode::kWrite;
          me.expect_timeout(lock, 0, mode,
                            Deadline::within(std::chrono::nanoseconds(me.rng().below(20'000))),
                            "of a held lock");
        }
        me.arrive_and_wait();  // three abandoned places for each of three agents
        if (me.is(3) && somebody_waits) {
          me.add(begun, 1);
          auto granted = me.hold(lock, 0, Mode::kWrite);
          visit_alone(me, 0, granted, true);
        }
        if (me.is(0) && somebody_waits) {
          me.await_word(begun, round / 2 + 1, "the last agent did not come");
          if (lock.traits().queued) {
            me.ep().flush(
                me.site().line.rank());  // completes the record, so that the dump starts at us
            me.await([&] { return lock.dump(me.agent(), me.site()).queue.size() == 1; },
                     "dump does not show exactly the one agent that waits");
          }
        }
      }
      me.arrive_and_wait();
      if (me.is(1)) me.hold_at_once(lock, 0, Mode::kWrite).release();
      me.arrive_and_wait();
    }
  });
}

/// D2: grants and expiries race. Whichever wins, the lock is free after all agents are done.
template <class World, class L>
Outcome check_expiry_race(const L& lock, const Setting& setting) {
  const Shape shape{.agents = 4, .nodes_per_agent = 8};
  return run_check<World>(shape, setting, [&](auto& me) {
    for (std::uint32_t round = 0; round < setting.rounds / 2; ++round) {
      std::optional<decltype(me.hold(lock, 0, Mode::kWrite))> mine;
      const bool holder = me.is(round % me.agents());
      if (holder) mine.emplace(me.hold_at_once(lock, 0, Mode::kWrite));  // L2, of the round before
      me.arrive_and_wait();
      if (holder) {
        for (auto steps = me.rng().below(6); steps > 0; --steps) me.wobble();
        mine->release();
      } else {
        const Mode mode = me.rng().below(4) == 0 ? Mode::kRead : Mode::kWrite;
        auto held = me.acquire(lock, 0, mode,
                               Deadline::within(std::chrono::nanoseconds(me.rng().below(4'000))));
        me.expect(held.ok() || held.code() == Code::kTimeout, "L2: a node did not come back: {}",
                  held.status().message());
        if (held.ok() && mode == Mode::kRead && lock.traits().readers_share)
          visit_shared(me, 0);
        else if (held.ok())
          visit_alone(me, 0, *held, true);
      }
      me.arrive_and_wait();
    }
  });
}

/// N1: nodes in use or abandoned are not handed out; when none is left the error says what to do,
/// and when the lock has moved on they come back.
template <class World, class L>
Outcome check_node_supply(const L& lock, const Setting& setting) {
  // A tree of queues takes a node for each level; no world here has more than two.
  const bool tree = lock.traits().satellites;
  const Shape shape{.agents = 2, .locks = 6, .nodes_per_agent = tree ? 4u : 2u};
  if (!lock.traits().queued) return {};
  return run_check<World>(shape, setting, [&](auto& me) {
    const auto expect_exhausted = [&](std::uint32_t k) {
      for (const bool wait : {true, false}) {
        auto held = wait ? me.acquire(lock, k, Mode::kWrite, Deadline::now())
                         : me.try_acquire(lock, k, Mode::kWrite);
        me.expect(!held.ok() && held.code() == Code::kUnavailable &&
                      held.status().message().find("nodes_per_agent") != std::string_view::npos,
                  "N1: more nodes than there are: {}",
                  held.ok() ? "granted" : held.status().message());
      }
    };
    for (std::uint32_t round = 0; round < 4; ++round) {
      if (me.is(0)) {  // all in use
        const std::uint32_t most =
            shape.nodes_per_agent / (tree ? locks::path_of(me.agent()).depth : 1);
        std::vector<decltype(me.hold(lock, 0, Mode::kWrite))> held;
        for (std::uint32_t k = 1; k <= most; ++k) {
          held.push_back(me.hold_at_once(lock, k, Mode::kWrite));
        }
        expect_exhausted(most + 1);
        held.front().release();
        me.hold_at_once(lock, most + 1, Mode::kWrite).release();
      }
      me.arrive_and_wait();
      {
        std::optional<decltype(me.hold(lock, 0, Mode::kWrite))> held;
        if (me.is(0)) held.emplace(me.hold_at_once(lock, 0, Mode::kWrite));
        me.arrive_and_wait();
        if (me.is(1)) {  // all abandoned
          std::uint32_t given_up = 0;
          while (given_up <= shape.nodes_per_agent &&
                 me.acquire(lock, 0, Mode::kWrite, Deadline::now()).code() == Code::kTimeout) {
            ++given_up;
          }
          const bool stays = given_up <= shape.nodes_per_agent;
          // If remote agents have a separate queue, an agent that gives up at its front leaves no
          // node.
          me.expect(stays || (!lock.traits().fifo && !me.ep().is_local(me.site().line.rank())),
                    "N1: an abandoned node is used again");
          me.expect(given_up >= 2, "N1: {} acquires that gave up took all nodes", given_up);
          if (stays) expect_exhausted(3);
          me.reborn();  // N2: the slot's next agent does not get them either
          if (stays) expect_exhausted(3);
        }
        me.arrive_and_wait();
      }
      me.arrive_and_wait();
      if (me.is(1)) {
        auto one = me.hold_at_once(lock, 0, Mode::kWrite);
        auto two = me.hold_at_once(lock, 3, Mode::kWrite);
      }
      me.arrive_and_wait();
    }
  });
}

/// N2: an agent ends with an abandoned node in the middle of a queue; the next agent of its slot
/// takes part at once, and the queue behind stays whole.
template <class World, class L>
Outcome check_slot_reuse(const L& lock, const Setting& setting) {
  const Shape shape{.agents = 3, .locks = 2, .nodes_per_agent = 4};
  return run_check<World>(shape, setting, [&](auto& me) {
    for (std::uint32_t round = 0; round < 6; ++round) {
      {
        std::optional<decltype(me.hold(lock, 0, Mode::kWrite))> held;
        if (me.is(0)) held.emplace(me.hold_at_once(lock, 0, Mode::kWrite));
        me.arrive_and_wait();
        if (me.is(1)) {
          const fabric::AgentId before = me.ep().agent();
          me.expect_timeout(lock, 0, Mode::kWrite, Deadline::now(), "of a held lock");
          me.reborn();
          me.expect(me.ep().agent() == before,
                    "the slot was not reused: this check checks nothing");
          for (int times = 0; times < 3; ++times) me.hold_at_once(lock, 1, Mode::kWrite).release();
          me.set(kFreeWords, round + 1);
        }
        if (me.is(2)) me.await_word(kFreeWords, round + 1, "the agent was not reborn");
        if (!me.is(0)) {  // both wait behind the abandoned node
          me.add(kFreeWords + 1, 1);
          auto granted = me.hold(lock, 0, Mode::kWrite);
          visit_alone(me, 0, granted, true);
        } else {
          me.await_word(kFreeWords + 1, 2 * (round + 1), "nobody came to wait");
        }
      }
      me.arrive_and_wait();
    }
  });
}

}  // namespace keyway::conformance
