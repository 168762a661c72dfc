// How an agent waits where waiting must drive MPI: like wait.h, but it keeps the processor longer.
//
// *What.* Without hardware that executes operations, other ranks' operations wait for a rank that
// waits. If every agent has its own processor, the wait therefore polls for kPatientNs before it
// yields the processor. If there are more agents than processors (crowded), it yields soon, since
// the agent that it waits for may need this processor. Fibers yield at every poll.
// *Thread safety.* Values and free functions without state.
#pragma once

#include <cstdint>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/backoff.h"
#include "keyway/locks/fabric/fiber.h"
#include "keyway/locks/fabric/wait.h"

namespace keyway::fabric {

inline constexpr std::uint64_t kPatientNs = 1'000'000;
inline constexpr std::uint64_t kCrowdedNs = 2'000;

/// Decides at each poll of a wait whether to yield the processor.
class Turns {
 public:
  Turns(bool crowded, std::uint64_t now_ns)
      : keep_ns_(crowded ? kCrowdedNs : kPatientNs), ends_ns_(now_ns + keep_ns_), yields_(now_ns) {}

  void look(std::uint64_t now_ns) {
    if (!this_fiber::active() && now_ns < ends_ns_) return;
    yields_.give_way(now_ns);
    ends_ns_ = steady_ns() + keep_ns_;
  }

 private:
  std::uint64_t keep_ns_;
  std::uint64_t ends_ns_;
  Yields yields_;
};

/// As wait_loop of wait.h.
template <class Done, class Progress>
bool mpi_wait_loop(Done&& done, Progress&& progress, bool crowded, Deadline deadline) {
  if (done()) return true;
  std::uint64_t now = steady_ns();
  const std::uint64_t until = deadline.started(now).absolute_ns();
  for (Turns turns(crowded, now);; now = steady_ns()) {
    progress();
    if (done()) return true;
    if (now >= until) return done();
    turns.look(now);
  }
}

/// As retry_loop of wait.h.
template <class Attempt, class Progress>
bool mpi_retry_loop(Attempt&& attempt, Progress&& progress, const Backoff& backoff,
                    std::uint64_t jitter_seed, bool crowded, Deadline deadline) {
  if (attempt()) return true;
  std::uint64_t now = steady_ns();
  const std::uint64_t until = deadline.started(now).absolute_ns();
  BackoffSteps steps(backoff, jitter_seed ^ now);
  for (Turns turns(crowded, now);;) {
    if (now >= until) return false;
    const std::uint64_t span = steps.next_ns();
    const std::uint64_t resume = span < until - now ? now + span : until;
    do {
      progress();
      turns.look(now);
      now = steady_ns();
    } while (now < resume);
    if (attempt()) return true;
  }
}

}  // namespace keyway::fabric
