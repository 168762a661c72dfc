#include "keyway/server/net/sweeper.h"

#include <time.h>

#include <algorithm>
#include <new>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/fiber.h"
#include "keyway/locks/fabric/fiber_time.h"

namespace keyway::server {
namespace {

std::uint64_t thread_cpu_ns() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

/// Two bounds of what this fiber has spent of a core: the thread's time on one, which has the
/// siblings' in it while this fiber waits, and the time without waits, which has that of other
/// threads in it where there are more of them than cores.
struct Spent {
  std::uint64_t thread_ns = 0;
  std::uint64_t awake_ns = 0;

  static Spent now() {
    const fabric::this_fiber::Waited waited = fabric::this_fiber::waited();
    return {thread_cpu_ns(), steady_ns() - waited.lock_ns - waited.network_ns};
  }
  std::uint64_t since(const Spent& before) const {
    return std::min(thread_ns - before.thread_ns, awake_ns - before.awake_ns);
  }
};

}  // namespace

// Up to two turns' allowance is kept, so that a turn that comes late loses nothing.
Sweeper::Sweeper(std::uint32_t rank, std::uint32_t percent)
    : rank_(rank),
      share_(percent,
             2 * std::chrono::nanoseconds(kTurnsApart).count() / 100 * std::uint64_t{percent}),
      last_turn_ns_(steady_ns()) {}

std::uint64_t Sweeper::turn(Session& session) {
  const std::uint64_t now = steady_ns();
  share_.pass(now - last_turn_ns_);
  last_turn_ns_ = now;
  std::uint64_t removed = 0;
  while (share_.allows()) {
    const Spent before = Spent::now();
    const bool more = part(session, removed);
    share_.spend(Spent::now().since(before));
    if (!more) break;
    fabric::this_fiber::yield_now();
  }
  return removed;
}

/// False at the end of the round, and after a failure.
bool Sweeper::part(Session& session, std::uint64_t& removed) {
  try {
    const auto part = session.inspector().sweep_part(rank_, from_, kLinesPerPart);
    if (!part.ok()) return false;
    from_ = part->next;
    removed += part->removed;
    return from_ != 0;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace keyway::server
