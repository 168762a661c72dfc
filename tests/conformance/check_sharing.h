// Checks: which agents may be inside together, tries on a busy and on a free lock, LOCKALL.
#pragma once

#include "tests/conformance/check_exclusion.h"

namespace keyway::conformance {

/// While some agents hold lock 0, all others are refused in `mode`, with and without a wait.
template <class A, class L>
void expect_refused(A& me, const L& lock, Mode mode, std::string_view when) {
  me.expect_busy(lock, 0, mode, when);
  me.expect_timeout(lock, 0, mode, Deadline::now(), when);
  me.expect_timeout(lock, 0, mode, Deadline::within(std::chrono::microseconds(200)), when);
  me.expect_busy(lock, 0, mode, when);
}

/// L1 for readers: two are inside together if the kind says so, proven by a meeting inside; else
/// the second is refused. A writer is refused in both cases.
template <class World, class L>
Outcome check_readers(const L& lock, const Setting& setting) {
  const Shape shape{.agents = 3};
  return run_check<World>(shape, setting, [&](auto& me) {
    const bool share = lock.traits().readers_share;
    for (std::uint32_t round = 0; round < 4; ++round) {
      {
        std::optional<decltype(me.hold(lock, 0, Mode::kRead))> held;
        if (me.is(0) || (me.is(1) && share)) held.emplace(me.hold(lock, 0, Mode::kRead));
        me.arrive_and_wait();  // inside: with sharing, both readers
        if (me.is(1) && !share) expect_refused(me, lock, Mode::kRead, "to read beside a reader");
        if (me.is(2)) expect_refused(me, lock, Mode::kWrite, "to write beside readers");
        if (me.is(2) && share) {
          auto third = me.try_acquire(lock, 0, Mode::kRead);
          me.expect(third.ok(), "readers_share: a refused writer keeps readers out: {}",
                    third.status().message());
        }
        me.arrive_and_wait();
      }
      me.arrive_and_wait();
      if (me.is(2)) me.hold_at_once(lock, 0, Mode::kWrite).release();
      me.arrive_and_wait();
    }
  });
}

/// L1 for a writer inside: all others are refused; L2: refusals leave the lock unchanged.
template <class World, class L>
Outcome check_try(const L& lock, const Setting& setting) {
  const Shape shape{.agents = 3};
  return run_check<World>(shape, setting, [&](auto& me) {
    for (std::uint32_t round = 0; round < 2 * me.agents(); ++round) {
      const bool holder = me.is(round % me.agents());
      {
        std::optional<decltype(me.hold(lock, 0, Mode::kWrite))> held;
        if (holder) held.emplace(me.hold_at_once(lock, 0, Mode::kWrite));
        me.arrive_and_wait();
        if (!holder) expect_refused(me, lock, Mode::kWrite, "to write beside a writer");
        if (!holder) expect_refused(me, lock, Mode::kRead, "to read beside a writer");
        me.arrive_and_wait();
      }
      me.arrive_and_wait();
      if (holder) me.hold_at_once(lock, 0, Mode::kRead).release();
      me.arrive_and_wait();
    }
  });
}

/// Holds LOCKALL for a scope.
template <class A, class L>
class AllGuard {
 public:
  AllGuard(A& me, const L& lock) : me_(me), lock_(lock) {
    const Status entered = lock.acquire_all(me.agent(), me.plan().group_line(), me.patience());
    me.expect(entered.ok(), "stuck: LOCKALL was not granted: {}", entered.message());
  }
  AllGuard(const AllGuard&) = delete;
  AllGuard& operator=(const AllGuard&) = delete;
  ~AllGuard() { lock_.release_all(me_.agent(), me_.plan().group_line()); }

 private:
  A& me_;
  const L& lock_;
};

/// G3: LOCKALL and the writers of every lock of the group exclude each other; readers and other
/// holders of LOCKALL enter. For kinds with acquire_all().
template <class World, class L>
Outcome check_lockall(const L& lock, const Setting& setting) {
  const Shape shape{.agents = 3, .locks = 4};
  return run_check<World>(shape, setting, [&](auto& me) {
    const auto refused = [&](Deadline deadline) {
      const Status entered = lock.acquire_all(me.agent(), me.plan().group_line(), deadline);
      me.expect(entered.code() == Code::kTimeout, "G3: LOCKALL beside a writer: {}",
                entered.message());
    };
    for (std::uint32_t round = 0; round < 3; ++round) {
      {
        std::optional<AllGuard<std::remove_reference_t<decltype(me)>, L>> all;
        if (!me.is(2)) all.emplace(me, lock);
        me.arrive_and_wait();  // inside: two holders of LOCKALL
        for (std::uint32_t k = 0; me.is(2) && k < shape.locks; ++k) {
          me.expect_busy(lock, k, Mode::kWrite, "to write under LOCKALL");
          const auto late = me.acquire(lock, k, Mode::kWrite, Deadline::now());
          me.expect(late.code() == Code::kTimeout &&
                        late.status().message().find("LOCKALL") != std::string_view::npos,
                    "G3: writing under LOCKALL: {}", late.status().message());
          me.hold_at_once(lock, k, Mode::kRead).release();
        }
        me.arrive_and_wait();
      }
      me.arrive_and_wait();
      for (std::uint32_t k = 0; k < shape.locks; ++k) {
        {
          std::optional<decltype(me.hold(lock, 0, Mode::kWrite))> held;
          if (me.is(2)) held.emplace(me.hold_at_once(lock, k, Mode::kWrite));  // G2: no trace left
          me.arrive_and_wait();
          if (!me.is(2)) refused(Deadline::now());
          if (!me.is(2)) refused(Deadline::within(std::chrono::microseconds(100)));
          me.arrive_and_wait();
        }
        me.arrive_and_wait();
      }
    }
  });
}

/// G3 under load: while LOCKALL is held no record of the group changes.
template <class World, class L>
Outcome check_lockall_load(const L& lock, const Setting& setting) {
  const Shape shape{.agents = 4, .locks = 3};
  return run_check<World>(shape, setting, [&](auto& me) {
    for (std::uint32_t round = 0; round < setting.rounds / 4; ++round) {
      if (me.rng().below(4) == 0) {
        const AllGuard all(me, lock);
        for (std::uint32_t k = 0; k < shape.locks; ++k) visit_shared(me, k);
      } else {
        const auto k = static_cast<std::uint32_t>(me.rng().below(shape.locks));
        visit(me, lock, k, me.rng().below(2) == 0 ? Mode::kRead : Mode::kWrite);
      }
    }
    expect_books_balance(me, lock, shape.locks);
  });
}

}  // namespace keyway::conformance
