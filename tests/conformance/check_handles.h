// Checks: guards, the standard library's lock classes on handles, statistics and dumps.
#pragma once

#include <mutex>
#include <shared_mutex>

#include "tests/conformance/check_exclusion.h"

namespace keyway::conformance {

template <class A, class L>
auto handle(A& me, const L& lock, std::uint32_t k) {
  return locks::LockHandle<L, typename A::E>(lock, me.agent(), me.site(k));
}

/// Guards release once: at scope end, early, when moved from, when assigned over.
template <class World, class L>
Outcome check_guards(const L& lock, const Setting& setting) {
  const Shape shape{.agents = 1, .locks = 2};
  return run_check<World>(shape, setting, [&](auto& me) {
    auto here = handle(me, lock, 0);
    auto there = handle(me, lock, 1);
    const auto busy = [&](auto& h) { return h.try_write().code() == Code::kBusy; };
    {
      auto held = here.acquire_write(me.patience());
      me.expect(held.ok() && busy(here), "guard: acquire_write does not hold");
      auto moved = std::move(*held);
      me.expect(busy(here), "guard: a move releases");
      moved.release();
      moved.release();
      me.expect(!busy(here), "guard: an early release does not release");
    }
    {
      auto first = here.acquire_write(me.patience());
      auto second = there.try_write();
      me.expect(second.ok() && busy(there), "guard: try_write does not hold");
      *first = std::move(*second);
      me.expect(!busy(here) && busy(there), "guard: assignment keeps the wrong lock");
    }
    me.expect(!busy(here) && !busy(there), "guard: the end of scope does not release");
    {
      auto reading = here.try_read();
      me.expect(reading.ok() && busy(here), "guard: try_read does not hold");
      auto again = there.acquire_read(me.patience());
      me.expect(again.ok() && busy(there), "guard: acquire_read does not hold");
    }
    me.expect(!busy(here) && !busy(there), "guard: the end of scope does not release readers");
  });
}

/// unique_lock, shared_lock and their timed members on a lock that another agent holds or not.
template <class World, class L>
Outcome check_adaptors(const L& lock, const Setting& setting) {
  const Shape shape{.agents = 2, .nodes_per_agent = 8};
  return run_check<World>(shape, setting, [&](auto& me) {
    using Clock = typename std::remove_reference_t<decltype(me)>::Clock;
    auto mine = handle(me, lock, 0);
    const auto span = std::chrono::microseconds(50);
    for (std::uint32_t round = 0; round < 6; ++round) {
      std::unique_lock held(mine, std::defer_lock);
      if (me.is(0)) held.lock();
      me.arrive_and_wait();
      if (me.is(1)) {
        const auto before = me.agent().stats;
        std::unique_lock writer(mine, std::defer_lock);
        std::shared_lock reader(mine, std::defer_lock);
        me.expect(!writer.try_lock() && !reader.try_lock(), "L1: try_lock of a held lock");
        const auto after = me.agent().stats;
        // A try takes no place in a queue: it is a try, not an acquire that gives up.
        me.expect(
            after.try_failures == before.try_failures + 2 && after.timeouts == before.timeouts,
            "Lockable: try_lock is not try_acquire: {} try failures, {} timeouts",
            after.try_failures - before.try_failures, after.timeouts - before.timeouts);
        me.expect(!writer.try_lock_for(span) && !reader.try_lock_for(span),
                  "L1: try_lock_for of a held lock");
        const auto at = Clock::now() + span;
        me.expect(!writer.try_lock_until(at) && !reader.try_lock_until(at),
                  "L1: try_lock_until of a held lock");
      }
      me.arrive_and_wait();
      if (me.is(0)) held.unlock();
      me.arrive_and_wait();
      if (me.is(1)) {
        const auto long_span = me.setting().patience;
        std::unique_lock writer(mine, long_span);
        me.expect(writer.owns_lock(), "L2: try_lock_for of a free lock");
        writer.unlock();
        std::shared_lock reader(mine, std::try_to_lock);
        me.expect(reader.owns_lock(), "L2: try_lock_shared of a free lock");
        reader.unlock();
        me.expect(reader.try_lock_until(Clock::now() + long_span),
                  "L2: try_lock_shared_until of a free lock");
      }
      me.arrive_and_wait();
    }
  });
}

/// std::scoped_lock over two locks in opposite orders: no deadlock, both are held.
template <class World, class L>
Outcome check_scoped_lock(const L& lock, const Setting& setting) {
  // Two agents take part: std::lock unlocks and waits for the lock that it found busy, so three
  // agents on two first-come-first-served locks can pass the locks around for ever in lockstep, as
  // on fibers. The two must not be alike either: if an operation takes both the same time to the
  // nanosecond, they fail each other's attempts for ever. So they are the first and the last of
  // four, which have different homes.
  const Shape shape{.agents = 4, .locks = 2, .nodes_per_agent = 8};
  return run_check<World>(shape, setting, [&](auto& me) {
    auto a = handle(me, lock, 0);
    auto b = handle(me, lock, 1);
    struct NoToken {
      std::uint64_t token() { return 0; }
    } none;
    const bool takes_part = me.is(0) || me.is(3);
    for (std::uint32_t round = 0; takes_part && round < me.setting().rounds / 4; ++round) {
      std::scoped_lock both(me.is(0) ? a : b, me.is(0) ? b : a);
      for (std::uint32_t k = 0; k < shape.locks; ++k) {
        visit_alone(me, k, none, false);
      }
    }
    expect_books_balance(me, lock, shape.locks);
  });
}

/// LockStats of a script without contention is exact.
template <class World, class L>
Outcome check_stats(const L& lock, const Setting& setting) {
  const Shape shape{.agents = 1, .locks = 2};
  return run_check<World>(shape, setting, [&](auto& me) {
    const auto visit = [&](std::uint32_t k, Mode mode) {
      me.hold(lock, k, mode).release();
      me.ep().flush_all();  // the next attempt does not meet an unlock on its way
    };
    for (int i = 0; i < 3; ++i) visit(0, Mode::kWrite);
    for (int i = 0; i < 2; ++i) visit(1, Mode::kRead);
    {
      auto held = me.hold_at_once(lock, 0, Mode::kWrite);
      me.expect_busy(lock, 0, Mode::kWrite, "of our own lock");
      me.expect_busy(lock, 0, Mode::kRead, "of our own lock");
      me.expect_timeout(lock, 0, Mode::kWrite, Deadline::now(), "of our own lock");
    }
    const locks::LockStats& s = me.agent().stats;
    me.expect(s.writes == 4 && s.reads == 2 && s.try_failures == 2 && s.timeouts == 1 &&
                  s.contended == 1 && s.handovers() == 0,
              "stats: writes {} of 4, reads {} of 2, try failures {} of 2, timeouts {} of 1, "
              "contended {} of 1, handovers {} of 0",
              s.writes, s.reads, s.try_failures, s.timeouts, s.contended, s.handovers());
  });
}

/// dump() and the message of a timeout name the holder and, if there is one, the queue.
template <class World, class L>
Outcome check_dump(const L& lock, const Setting& setting) {
  const Shape shape{.agents = 3, .locks = 2};
  return run_check<World>(shape, setting, [&](auto& me) {
    const auto name = [&](std::uint32_t who) {
      const fabric::AgentId id = me.id_of(who);
      return fmt::format("{}.{}", id.rank, id.slot);
    };
    const auto look = [&] { return lock.dump(me.agent(), me.site()); };
    const auto contains = [](std::string_view text, std::string_view part) {
      return text.find(part) != std::string_view::npos;
    };
    me.expect(!look().write_held && contains(look().describe(), "free"), "dump: a free lock: {}",
              look().describe());
    me.expect(look().line == me.site().line && !look().kind.empty(), "dump: no kind or no place");
    me.arrive_and_wait();
    {
      std::optional<decltype(me.hold(lock, 0, Mode::kWrite))> held;
      if (me.is(1)) held.emplace(me.hold(lock, 0, Mode::kWrite));
      if (me.is(1)) {
        me.set(kFreeWords + 1, held->token());
        me.ep().flush(me.site().line.rank());  // the record is complete
      }
      me.arrive_and_wait();
      const auto seen = look();
      me.expect(seen.write_held && seen.holder_known && seen.holder == me.id_of(1) &&
                    seen.token == me.get(kFreeWords + 1),
                "dump: does not name the holder: {}", seen.describe());
      me.expect(contains(seen.describe(), "written by agent " + name(1)), "dump: text {}",
                seen.describe());
      me.arrive_and_wait();
      if (me.is(0)) {
        auto late = me.acquire(lock, 0, Mode::kWrite, Deadline::now());
        me.expect(!late.ok() && contains(late.status().message(), "agent " + name(1)),
                  "dump: a timeout does not name the holder: {}", late.status().message());
      }
      me.arrive_and_wait();
      if (me.is(2) && lock.traits().queued) me.hold(lock, 0, Mode::kWrite).release();
      if (me.is(1) && lock.traits().queued) {
        me.await([&] { return look().queue == std::vector{me.id_of(2)}; },
                 "dump: does not name the waiter");
        me.expect(contains(look().describe(), "waiting: " + name(2)), "dump: text {}",
                  look().describe());
      }
    }
    me.arrive_and_wait();
    if (lock.traits().readers_share) {
      auto held = me.hold(lock, 0, Mode::kRead);
      me.arrive_and_wait();
      me.expect(look().readers == me.agents() && !look().write_held, "dump: {} readers of {}",
                look().readers, me.agents());
      me.arrive_and_wait();
    }
    me.arrive_and_wait();
    me.expect(contains(look().describe(), "free"), "dump: a free lock: {}", look().describe());
  });
}

}  // namespace keyway::conformance
