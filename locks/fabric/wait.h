// How an agent on a real processor waits. The only place in Keyway that spins, yields or sleeps.
//
// *What.* wait_loop: poll, spin a little, then yield the processor between polls: a thread yields,
// a fiber switches to a sibling. `progress` is called between polls, so that waiting agents drive a
// fabric without hardware progress. A thread that has yielded for long sleeps for a moment.
// *Thread safety.* Free functions without state. Yields belongs to one wait.
#pragma once

#include <sched.h>

#include <cstdint>
#include <ctime>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/address.h"
#include "keyway/locks/fabric/backoff.h"
#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/fiber.h"

namespace keyway::fabric {

/// Polls before the processor is yielded for the first time. Short: with more agents than cores,
/// the agent we wait for may need ours.
inline constexpr int kSpinsBeforeYield = 100;

inline void cpu_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

/// Gives the processor away once: to a sibling fiber, or to another thread.
inline void give_way() {
  if (!this_fiber::yield()) sched_yield();
}

/// The yields of one wait. Threads that do nothing but yield to one another can keep all others
/// from a processor: on Linux 6.18 we saw it for 58 s, in which neither a fourth agent of a job nor
/// another program ran. So a thread sleeps now and then; a fiber does not, for its siblings' sake.
class Yields {
 public:
  static constexpr std::uint64_t kSleepEveryNs = 10'000'000;
  static constexpr long kSleepNs = 50'000;

  explicit Yields(std::uint64_t now_ns) : sleeps_at_(now_ns + kSleepEveryNs) {}

  /// As the free function.
  void give_way(std::uint64_t now_ns) {
    if (now_ns < sleeps_at_ || this_fiber::active()) return fabric::give_way();
    const timespec span{.tv_sec = 0, .tv_nsec = kSleepNs};
    nanosleep(&span, nullptr);  // a signal may end it early
    sleeps_at_ = steady_ns() + kSleepEveryNs;
  }

 private:
  std::uint64_t sleeps_at_;
};

/// Returns true when done() has returned true, false when the deadline passed first. done() is
/// looked at once more after the deadline.
template <class Done, class Progress>
bool wait_loop(Done&& done, Progress&& progress, Deadline deadline) {
  if (done()) return true;
  if (!this_fiber::active()) {
    for (int spin = 0; spin < kSpinsBeforeYield; ++spin) {
      cpu_pause();
      if (done()) return true;
    }
  }
  std::uint64_t now = steady_ns();
  const std::uint64_t until = deadline.started(now).absolute_ns();
  for (Yields yields(now);;) {
    progress();
    if (done()) return true;
    now = steady_ns();
    if (now >= until) return done();
    yields.give_way(now);
  }
}

/// wait_until_remote() of an endpoint, by its retry_until(): polls `word` and backs off.
template <class E, class Predicate>
WaitResult watch_remote(E& ep, Address word, Predicate&& predicate, const Backoff& backoff,
                        Deadline deadline) {
  WaitResult result;
  const auto look = [&] { return predicate(result.value = ep.load(rma, word)); };
  result.expired = !ep.retry_until(look, backoff, deadline);
  return result;
}

/// Calls attempt() until it returns true; between attempts waits by `backoff`.
template <class Attempt, class Progress>
bool retry_loop(Attempt&& attempt, Progress&& progress, const Backoff& backoff,
                std::uint64_t jitter_seed, Deadline deadline) {
  if (attempt()) return true;
  std::uint64_t now = steady_ns();
  const std::uint64_t until = deadline.started(now).absolute_ns();
  BackoffSteps steps(backoff, jitter_seed ^ now);
  for (Yields yields(now);;) {
    if (now >= until) return false;
    const std::uint64_t span = steps.next_ns();
    const std::uint64_t resume = span < until - now ? now + span : until;
    do {
      progress();
      yields.give_way(now);
      now = steady_ns();
    } while (now < resume);
    if (attempt()) return true;
    now = steady_ns();
  }
}

}  // namespace keyway::fabric
