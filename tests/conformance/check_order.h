// Checks: the order in which waiters are granted, for kinds that claim one.
#pragma once

#include <algorithm>
#include <numeric>

#include "tests/conformance/world.h"

namespace keyway::conformance {

/// fifo: agents join the queue one by one, each seen in dump() before the next one starts; they are
/// granted in that order, and the holder, which returns at once, only after all of them (bypass 0).
/// The check reads the queue, never the clock.
template <class World, class L>
Outcome check_fifo(const L& lock, const Setting& setting) {
  const Shape shape{.agents = 5};
  if (!lock.traits().fifo) return {};
  constexpr std::uint32_t kTurn = kFreeWords;       // how many may have joined
  constexpr std::uint32_t kIn = kFreeWords + 1;     // how many have got in
  constexpr std::uint32_t kOrder = kFreeWords + 8;  // agents, in order
  return run_check<World>(shape, setting, [&](auto& me) {
    std::vector<std::uint32_t> order(shape.agents - 1);
    std::iota(order.begin(), order.end(), 1);
    Rng shared(setting.seed);  // the same order for all agents
    const auto enter = [&](std::uint32_t round) {
      auto held = me.hold(lock, 0, Mode::kWrite);
      const std::uint64_t place = me.get(kIn);
      me.set(kOrder + static_cast<std::uint32_t>(place - round * shape.agents), me.index());
      me.set(kIn, place + 1);
    };
    for (std::uint32_t round = 0; round < 6; ++round) {
      std::shuffle(order.begin(), order.end(), shared);
      std::optional<decltype(me.hold(lock, 0, Mode::kWrite))> held;
      if (me.is(0)) held.emplace(me.hold_at_once(lock, 0, Mode::kWrite));
      me.arrive_and_wait();
      if (me.is(0)) {
        me.ep().flush(me.site().line.rank());  // completes the record, so that dump() starts at us
        std::vector<fabric::AgentId> queue;
        for (std::uint32_t joined = 0; joined < order.size(); ++joined) {
          me.set(kTurn, round * 100 + joined + 1);
          queue.push_back(me.id_of(order[joined]));
          me.await([&] { return lock.dump(me.agent(), me.site()).queue == queue; },
                   "fifo: dump() does not show the waiters in the order they came");
        }
        held.reset();
        enter(round);
      } else {
        const auto place = std::find(order.begin(), order.end(), me.index()) - order.begin();
        me.await_word(kTurn, round * 100 + static_cast<std::uint64_t>(place) + 1, "no turn came");
        enter(round);
      }
      me.arrive_and_wait();
      order.push_back(0);
      for (std::uint32_t i = 0; i < order.size(); ++i) {
        const std::uint64_t who = me.get(kOrder + i);
        me.expect(who == order[i], "fifo: agent {} got in at place {}, where agent {} stood", who,
                  i, order[i]);
      }
      order.pop_back();
      me.arrive_and_wait();
    }
  });
}

}  // namespace keyway::conformance
