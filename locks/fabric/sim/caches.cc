#include "keyway/locks/fabric/sim/caches.h"

#include <algorithm>
#include <cmath>

#include "keyway/locks/base/check.h"

namespace keyway::fabric::sim {

Caches::Caches(const MulticoreShape& shape, const CacheCosts& costs, std::uint64_t seed)
    : shape_(shape), costs_(costs), near_(shape.threads() * kNearnesses), rng_(seed) {
  KW_CHECK_MSG(shape.threads() <= kMaxHardwareThreads, "machine", "it has too many threads");
  for (std::uint32_t a = 0; a < shape.threads(); ++a) {
    for (std::uint32_t b = 0; b < shape.threads(); ++b) {
      near_[a * kNearnesses + static_cast<std::size_t>(shape.nearness(a, b))].set(b);
    }
  }
}

double Caches::access(std::uint32_t thread, Address at, AccessKind kind, double now) {
  Line& line = lines_[line_of(at)];
  const double hit = hit_ns(kind);
  if (hits(thread, kind, line, now)) {
    ++stats_.hits;
    if (!line.holders.test(thread)) return now + hit;  // not for long any more: C4
    // The line may be on its way here for an earlier store.
    const bool alone = line.holders.count() == 1;
    const double done = (alone ? std::max(now, line.arrives_at) : now) + hit;
    if (kind != AccessKind::kLoad) line.busy_until = std::max(line.busy_until, done);  // C2
    return done;
  }
  const double begins = std::max(now, line.busy_until);
  stats_.waited_ns += begins - now;
  if (kind == AccessKind::kLoad) {
    if (begins >= line.arrives_at) line.sources = line.holders;  // C3
    const bool overlaps = line.sources.any();
    const double fetch = jittered(fetch_ns(thread, at, line));
    if (line.holders.count() == 1) ask(line, begins, fetch);  // it can write no more
    line.busy_until = begins + (overlaps ? std::min(fetch, costs_.load_busy_ns) : fetch);
    line.arrives_at = std::max(line.arrives_at, begins + fetch);
    line.holders.set(thread);
    return begins + fetch + hit;
  }
  const double take = jittered(take_ns(thread, at, line));
  ask(line, begins, take);
  line.busy_until = begins + take + hit;
  line.arrives_at = begins + take;
  line.holders.reset();
  line.holders.set(thread);  // C1
  line.sources = line.holders;
  return line.busy_until;
}

bool Caches::hits(std::uint32_t thread, AccessKind kind, const Line& line, double now) const {
  const bool load = kind == AccessKind::kLoad;
  if (line.holders.test(thread) && (load || line.holders.count() == 1)) return true;
  return now < line.asked_until && line.asked.test(thread) && (load || line.asked_alone);
}

void Caches::ask(Line& line, double begins, double transfer_ns) {
  line.asked = line.holders;
  line.asked_alone = line.holders.count() == 1;
  line.asked_until = begins + transfer_ns * costs_.request_share;
}

bool Caches::holds(std::uint32_t thread, Address at) const {
  const auto found = lines_.find(line_of(at));
  return found != lines_.end() && found->second.holders.test(thread);
}

double Caches::hit_ns(AccessKind kind) const {
  if (kind == AccessKind::kLoad) return costs_.load_ns;
  return kind == AccessKind::kStore ? costs_.store_ns : costs_.atomic_ns;
}

double Caches::jittered(double transfer) {
  if (costs_.jitter_share == 0) return transfer;
  // Whole, as the times that it is added to may have to be.
  return std::floor(transfer * (1 + costs_.jitter_share * (2 * rng_.unit() - 1)));
}

/// A copy from the nearest holder that has one, or from memory.
double Caches::fetch_ns(std::uint32_t thread, Address at, const Line& line) {
  for (std::size_t how = 1; how < kNearnesses; ++how) {
    if ((line.sources & near(thread, static_cast<Nearness>(how))).none()) continue;
    ++stats_.transfers[how];
    return costs_.transfer_ns[how];
  }
  return memory_ns(thread, at);
}

/// All copies of others taken away, and the line here.
double Caches::take_ns(std::uint32_t thread, Address at, const Line& line) {
  Threads others = line.holders;
  others.reset(thread);
  const std::size_t copies = others.count();
  stats_.invalidated += copies;
  for (std::size_t how = kNearnesses; how-- > 1;) {
    if ((others & near(thread, static_cast<Nearness>(how))).none()) continue;
    ++stats_.transfers[how];
    return costs_.transfer_ns[how] + static_cast<double>(copies - 1) * costs_.invalidate_each_ns;
  }
  return memory_ns(thread, at);
}

double Caches::memory_ns(std::uint32_t thread, Address at) {
  ++stats_.from_memory;
  const std::uint32_t here = shape_.numa_of(thread);
  const std::uint32_t home = home_of_page_.try_emplace(at.word() / kPageBytes, here).first->second;
  if (home == here) return costs_.memory_ns[0];
  const bool same_socket = home / shape_.numa_per_socket == shape_.socket_of(thread);
  return costs_.memory_ns[same_socket ? 1 : 2];
}

}  // namespace keyway::fabric::sim
