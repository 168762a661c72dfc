// CheckAgent: one agent of a check, wherever it runs.
//
// *What.* An endpoint, a LockAgent, a seeded random source and the board, through which the
// agents of a check meet and signal. Everything that agents share lies in segments, so a check
// does not know whether its agents are threads, fibers or processes.
// *Thread safety.* Belongs to one agent.
#pragma once

#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/distributed/guard.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/fabric/wait.h"
#include "tests/conformance/outcome.h"
#include "tests/conformance/plan.h"
#include "tests/conformance/record.h"

namespace keyway::conformance {

/// A fabric on which time is virtual: an agent spends it, and the host's clock says nothing.
template <class F>
concept VirtualTime = requires(F& fabric, std::uint32_t agent) {
  fabric.spend(agent, 1.0);
};

/// A clock for the standard library's lock classes in virtual time: only their spans count there,
/// and a stopped clock adds nothing to them.
struct StoppedClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<StoppedClock>;
  static constexpr bool is_steady = true;
  static time_point now() { return time_point(std::chrono::hours(1)); }
};

template <class F>
class CheckAgent {
 public:
  using E = typename F::Endpoint;
  using Clock = std::conditional_t<VirtualTime<F>, StoppedClock, std::chrono::steady_clock>;

  CheckAgent(F& fabric, const Plan& plan, const Shape& shape, const Setting& setting,
             std::uint32_t index)
      : fabric_(fabric),
        plan_(plan),
        setting_(setting),
        index_(index),
        agents_(shape.agents),
        rng_(setting.seed * 1000 + index),
        outbox_(shape.locks) {
    open();
    set(kIdWords + index_, ep().agent().word());
  }

  // --- identity and place
  E& ep() { return *ep_; }
  locks::LockAgent<E>& agent() { return *agent_; }
  std::uint32_t index() const { return index_; }
  std::uint32_t agents() const { return agents_; }
  bool is(std::uint32_t index) const { return index_ == index; }
  Rng& rng() { return rng_; }
  const Setting& setting() const { return setting_; }
  const Plan& plan() const { return plan_; }
  locks::LockSite site(std::uint32_t lock = 0) const { return plan_.site(lock); }
  fabric::AgentId id_of(std::uint32_t index) {
    return fabric::AgentId::from_word(get(kIdWords + index));
  }
  /// The agent ends and a new one takes its slot.
  void reborn() {
    agent_.reset();
    ep_.reset();
    open();
    set(kIdWords + index_, ep().agent().word());
  }

  // --- verdicts
  [[noreturn]] void fail(const std::string& what) const {
    throw Broken(fmt::format("{} (agent {})", what, index_));
  }
  template <class... Args>
  void expect(bool ok, fmt::format_string<Args...> what, Args&&... args) const {
    if (!ok) fail(fmt::format(what, std::forward<Args>(args)...));
  }
  /// Without a flush: buffers of posted reads have gone with what has failed.
  void report_failure() { ep().store(fabric::rma, board(kFailedWord), 1); }

  // --- the board
  std::uint64_t get(std::uint32_t word) { return ep().load(fabric::rma, board(word)); }
  /// O3: an unlock that is on its way comes before the news of it.
  void set(std::uint32_t word, std::uint64_t value) {
    ep().flush_all();
    ep().store(fabric::rma, board(word), value);
  }
  std::uint64_t add(std::uint32_t word, std::uint64_t value) {
    ep().flush_all();
    return ep().fetch_add(fabric::rma, board(word), value);
  }
  /// Waits for a condition that other agents will bring about.
  template <class Condition>
  void await(Condition&& condition, std::string_view what) {
    bool held = false;
    bool failed = false;
    ep().retry_until(
        [&] {
          held = condition();
          failed = !held && get(kFailedWord) != 0;
          return held || failed;
        },
        kAwaitBackoff, patience());
    if (failed) throw GaveUp();
    expect(held, "stuck: {}", what);
  }
  void await_word(std::uint32_t word, std::uint64_t least, std::string_view what) {
    await([&] { return get(word) >= least; }, what);
  }
  /// Waits for all agents of the check.
  void arrive_and_wait() {
    ep().flush_all();
    meet();
  }
  /// The same, and flushes nothing: a release must have done that.
  void meet() {
    const std::uint64_t arrived = ep().fetch_add(fabric::rma, board(kBarrierWord), 1) + 1;
    const std::uint64_t all = (arrived + agents_ - 1) / agents_ * agents_;
    await_word(kBarrierWord, all, "not every agent came to the meeting");
  }

  // --- locks
  Deadline patience() const { return Deadline::within(setting_.patience); }
  template <class L>
  Result<locks::Guard<L, E>> acquire(const L& lock, std::uint32_t k, locks::Mode mode,
                                     Deadline deadline) {
    return wrap(lock, k, lock.acquire(agent(), site(k), mode, deadline));
  }
  template <class L>
  Result<locks::Guard<L, E>> try_acquire(const L& lock, std::uint32_t k, locks::Mode mode) {
    return wrap(lock, k, lock.try_acquire(agent(), site(k), mode));
  }
  /// An acquire that must succeed, however long it takes.
  template <class L>
  locks::Guard<L, E> hold(const L& lock, std::uint32_t k, locks::Mode mode) {
    auto held = acquire(lock, k, mode, patience());
    expect(held.ok(), "stuck: lock {} was not granted: {}", k, held.status().message());
    return std::move(*held);
  }
  /// A try that must succeed.
  template <class L>
  locks::Guard<L, E> hold_at_once(const L& lock, std::uint32_t k, locks::Mode mode) {
    auto held = try_acquire(lock, k, mode);
    expect(held.ok(), "L2: lock {} is not free: {}; {}", k, held.status().message(),
           lock.dump(agent(), site(k)).describe());
    return std::move(*held);
  }
  template <class L>
  void expect_busy(const L& lock, std::uint32_t k, locks::Mode mode, std::string_view when) {
    auto held = try_acquire(lock, k, mode);
    expect(!held.ok() && held.code() == Code::kBusy, "L1: try {}: {} instead of BUSY", when,
           held.ok() ? "granted" : held.status().message());
  }
  template <class L>
  void expect_timeout(const L& lock, std::uint32_t k, locks::Mode mode, Deadline deadline,
                      std::string_view when) {
    auto held = acquire(lock, k, mode, deadline);
    expect(!held.ok() && held.code() == Code::kTimeout,
           "L1: timed acquire {}: {} instead of TIMEOUT", when,
           held.ok() ? "granted" : held.status().message());
  }

  // --- interleaving
  /// Now and then lets others run, by the seed.
  void wobble() {
    if (rng_.below(3) != 0) return;
    if constexpr (VirtualTime<F>) {
      fabric_.spend(index_, static_cast<double>(rng_.below(kLongestWobbleNs)));
    } else {
      fabric::give_way();
    }
  }
  /// Room for a posted write, unchanged until the lock is released.
  Record& outbox(std::uint32_t lock) { return outbox_[lock]; }

 private:
  /// A few operations of other agents fit in.
  static constexpr std::uint64_t kLongestWobbleNs = 10'000;
  /// In virtual time each poll of the board is simulated, so fewer polls are better.
  static constexpr fabric::Backoff kAwaitBackoff =
      VirtualTime<F> ? fabric::Backoff{1000, 20'000} : fabric::Backoff::none();

  void open() {
    ep_.emplace(std::move(*fabric_.endpoint(index_ % plan_.ranks)));
    agent_.emplace(*ep_, plan_.nodes);
  }
  fabric::Address board(std::uint32_t word) const { return {0, plan_.board + word * 8}; }
  template <class L>
  Result<locks::Guard<L, E>> wrap(const L& lock, std::uint32_t k, Result<locks::Grant> grant) {
    if (!grant.ok()) return grant.status();
    return locks::Guard<L, E>(lock, agent(), site(k), *grant);
  }

  F& fabric_;
  const Plan& plan_;
  const Setting& setting_;
  std::uint32_t index_;
  std::uint32_t agents_;
  Rng rng_;
  std::vector<Record> outbox_;
  std::optional<E> ep_;
  std::optional<locks::LockAgent<E>> agent_;
};

}  // namespace keyway::conformance
