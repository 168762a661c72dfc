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

std::uint64_t spent_between(const SweepTimes& before, const SweepTimes& after) {
  return std::min(after.thread - before.thread, after.awake - before.awake);
}

}  // namespace

SweepTimes SweepTimes::read() {
  const fabric::this_fiber::Waited waited = fabric::this_fiber::waited();
  const std::uint64_t now = steady_ns();
  return {now, thread_cpu_ns(), now - waited.lock_ns - waited.network_ns};
}

// Up to two turns' allowance is kept, so that a turn that comes late loses nothing.
Sweeper::Sweeper(std::uint32_t rank, std::uint32_t percent, SweepTimes (*read)())
    : rank_(rank),
      read_(read),
      share_(percent,
             2 * std::chrono::nanoseconds(kTurnsApart).count() / 100 * std::uint64_t{percent}),
      last_turn_ns_(read_().now) {}

std::uint64_t Sweeper::turn(Session& session) {
  const std::uint64_t now = read_().now;
  share_.pass(now - last_turn_ns_);
  last_turn_ns_ = now;
  std::uint64_t removed = 0;
  while (share_.allows()) {
    const SweepTimes before = read_();
    const bool more = part(session, removed);
    share_.spend(spent_between(before, read_()));
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
