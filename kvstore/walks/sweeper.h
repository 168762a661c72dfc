// Sweeper<E>: removes elements past their expiry.
//
// *What.* A sweep visits a stripe only after the time in its word of next expiries (K7), and writes
// there when the next element of the stripe expires.
// *Thread safety.* One session's.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "keyway/kvstore/volume/volume_counters.h"
#include "keyway/kvstore/walks/walker.h"
#include "keyway/locks/fabric/time_slice.h"

namespace keyway::store {

/// In a sweep by parts an expired element stays so long, so that others of its stripe leave by the
/// same walk.
inline constexpr std::uint64_t kSweepBatchMs = 400;
/// The maximum number of stripes that a part checks, so that it is short if none is due.
inline constexpr std::uint64_t kMaxStripesPerPart = 4096;

template <fabric::Endpoint E>
class Sweeper {
 public:
  Sweeper(E& ep, const Geometry& geometry, OperationClock<E>& clock, VolumeCounters<E>& counters,
          BucketChain<E>& chain, Walker<E>& walker)
      : ep_(ep),
        geometry_(geometry),
        clock_(clock),
        counters_(counters),
        chain_(chain),
        walker_(walker) {}
  Sweeper(const Sweeper&) = delete;
  Sweeper& operator=(const Sweeper&) = delete;

  /// A whole rank; returns how many elements it has removed.
  Result<std::uint64_t> sweep(std::uint32_t rank);
  /// From stripe `from` on, until it has visited `lines` lines.
  Result<SweepPart> sweep_part(std::uint32_t rank, std::uint64_t from, std::uint64_t lines);

 private:
  Status sweep_stripe(std::uint32_t rank, std::uint64_t stripe, SweepPart& part);
  Status sweep_due(std::uint32_t rank, std::uint64_t due_ms, std::uint64_t most_stripes,
                   std::uint64_t most_lines, SweepPart& part);

  E& ep_;
  const Geometry& geometry_;
  OperationClock<E>& clock_;
  VolumeCounters<E>& counters_;
  BucketChain<E>& chain_;
  Walker<E>& walker_;
};

/// Removes elements past their expiry from a stripe, and says when the next one expires (K7).
template <fabric::Endpoint E>
Status Sweeper<E>::sweep_stripe(std::uint32_t rank, std::uint64_t stripe, SweepPart& part) {
  std::uint64_t next = kNoExpiry;
  const std::uint64_t last = geometry_.stripe_end(stripe) - 1;
  bool raised = false;
  const auto goes = [&](const Found& found) {
    const std::uint64_t expires = found.head.expires_at_ms;
    if (clock_.has_come(expires)) {
      // T3, of all of them
      if (!std::exchange(raised, true)) clock_.raise(rank, clock_.now());
      return true;
    }
    if (expires != kNoExpiry && (next == kNoExpiry || expires < next)) next = expires;
    return false;
  };
  const auto sweep = [&](auto access, std::uint64_t bucket) {
    Status walked = walker_.remove(access, rank, bucket, goes, part.removed);
    part.visited += chain_.lines().size();
    if (walked.ok() && bucket == last) counters_.set_next_expiry(rank, stripe, next);
    return walked;
  };
  return walker_.stripe(rank, stripe, locks::Mode::kWrite, sweep);
}

/// Sweeps the stripes from part.next on whose next expiry is not after `due_ms`, until it has
/// checked `most_stripes` stripes or visited `most_lines` lines.
template <fabric::Endpoint E>
Status Sweeper<E>::sweep_due(std::uint32_t rank, std::uint64_t due_ms, std::uint64_t most_stripes,
                             std::uint64_t most_lines, SweepPart& part) {
  constexpr std::uint64_t kAhead = VolumeCounters<E>::kStripesAhead;
  const std::uint64_t stripes = geometry_.stripes();
  const std::uint64_t end = stripes - part.next > most_stripes ? part.next + most_stripes : stripes;
  std::array<std::uint64_t, kAhead> next;
  for (std::uint64_t from = part.next; from < end; from += kAhead) {
    const auto ahead = std::span(next).first(std::min<std::uint64_t>(kAhead, end - from));
    counters_.read_next_expiries(rank, from, ahead);
    for (std::size_t i = 0; i < ahead.size(); ++i) {
      part.next = (from + i + 1) % stripes;
      if (ahead[i] == kNoExpiry || ahead[i] > due_ms) continue;
      if (auto status = sweep_stripe(rank, from + i, part); !status.ok()) return status;
      if (part.visited >= most_lines) return {};
      fabric::this_fiber::yield_if_due();
    }
  }
  return {};
}

template <fabric::Endpoint E>
Result<std::uint64_t> Sweeper<E>::sweep(std::uint32_t rank) {
  clock_.begin(rank);
  SweepPart all;
  const Status status = sweep_due(rank, clock_.now(), ~0ULL, ~0ULL, all);
  if (!status.ok()) return status;
  return all.removed;
}

template <fabric::Endpoint E>
Result<SweepPart> Sweeper<E>::sweep_part(std::uint32_t rank, std::uint64_t from,
                                         std::uint64_t lines) {
  if (rank >= ep_.ranks() || from >= geometry_.stripes() || lines == 0) {
    return Status(
        Code::kInvalidArgument,
        "a part of a sweep begins at stripe 0 or where the last part ended, and visits at "
        "least one line");
  }
  clock_.begin(rank);
  const std::uint64_t now = clock_.now();
  SweepPart part;
  if (!counters_.any_expires(rank)) return part;
  part.next = from;
  const std::uint64_t due = now - std::min(now, kSweepBatchMs);
  const Status status = sweep_due(rank, due, kMaxStripesPerPart, lines, part);
  part.skipped = status.ok() ? 0 : 1;  // the round continues after it
  return part;
}

}  // namespace keyway::store
