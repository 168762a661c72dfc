// Session<E>: removing elements past their expiry. Included by session_impl.h.
//
// A sweep visits only the stripes whose word of next expiries has come (K7), and writes there when
// the next element of the stripe expires.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "keyway/kvstore/session.h"
#include "keyway/locks/fabric/time_slice.h"

namespace keyway::store {

/// Stripes whose next expiries are read at once.
inline constexpr std::uint64_t kStripesAhead = 32;
/// In a sweep by parts an expired element stays so long, so that others of its stripe leave by the
/// same walk.
inline constexpr std::uint64_t kSweepBatchMs = 400;
/// A part looks at so many stripes' words at most, so that it is short where none is due.
inline constexpr std::uint64_t kMaxStripesPerPart = 4096;

/// Removes elements past their expiry from a stripe, and says when the next one expires (K7).
template <fabric::Endpoint E>
Status Session<E>::sweep_stripe(std::uint32_t rank, std::uint64_t stripe, SweepPart& part) {
  std::uint64_t next = kNoExpiry;
  const std::uint64_t last = geometry_.stripe_end(stripe) - 1;
  bool raised = false;
  const auto goes = [&](const Found& found) {
    const std::uint64_t expires = found.head.expires_at_ms;
    if (has_come(expires)) {
      // T3, of all of them
      if (!std::exchange(raised, true)) raise_time(rank, operation_time());
      return true;
    }
    if (expires != kNoExpiry && (next == kNoExpiry || expires < next)) next = expires;
    return false;
  };
  const auto sweep = [&](auto access, std::uint64_t bucket) {
    Status walked = remove_in_bucket(access, rank, bucket, goes, part.removed);
    part.visited += chain_.size();
    if (walked.ok() && bucket == last) set_next_expiry(rank, stripe, next);
    return walked;
  };
  return walk_stripe(rank, stripe, locks::Mode::kWrite, sweep);
}

/// The stripe is locked for writing.
template <fabric::Endpoint E>
void Session<E>::set_next_expiry(std::uint32_t rank, std::uint64_t stripe, std::uint64_t at_ms) {
  const fabric::Address word = geometry_.next_expiry(rank, stripe);
  if (ep_.is_local(rank)) {
    ep_.store(fabric::cpu, word, at_ms);
  } else {
    ep_.post_store(fabric::rma, word, at_ms);
  }
}

/// Of consecutive stripes, in one round trip. They are not locked: what is written meanwhile may be
/// missed, and is met by the next sweep.
template <fabric::Endpoint E>
void Session<E>::read_next_expiries(std::uint32_t rank, std::uint64_t stripe,
                                    std::span<std::uint64_t> out) {
  with_access(rank, [&](auto access) {
    std::array<fabric::Pending, kStripesAhead> pending;
    for (std::size_t i = 0; i < out.size(); ++i) {
      pending[i] = ep_.post_load(access, geometry_.next_expiry(rank, stripe + i));
    }
    const fabric::Flushed flushed = ep_.flush(rank);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = pending[i].value(flushed);
  });
}

/// Sweeps the stripes from part.next on whose next expiry is not after `due_ms`, until it has
/// looked at so many stripes or visited so many lines.
template <fabric::Endpoint E>
Status Session<E>::sweep_due(std::uint32_t rank, std::uint64_t due_ms, std::uint64_t most_stripes,
                             std::uint64_t most_lines, SweepPart& part) {
  const std::uint64_t stripes = geometry_.stripes();
  const std::uint64_t end = stripes - part.next > most_stripes ? part.next + most_stripes : stripes;
  std::array<std::uint64_t, kStripesAhead> next;
  for (std::uint64_t from = part.next; from < end; from += kStripesAhead) {
    const auto ahead = std::span(next).first(std::min<std::uint64_t>(kStripesAhead, end - from));
    read_next_expiries(rank, from, ahead);
    for (std::size_t i = 0; i < ahead.size(); ++i) {
      part.next = (from + i + 1) % stripes;
      if (ahead[i] == kNoExpiry || ahead[i] > due_ms) continue;
      if (auto status = sweep_stripe(rank, from + i, part); !status.ok()) return status;
      if (part.visited >= most_lines) return {};
      fabric::this_fiber::give_turn_if_due();
    }
  }
  return {};
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::sweep_expired(std::uint32_t rank) {
  begin_time(rank);
  SweepPart all;
  const Status status = sweep_due(rank, operation_time(), ~0ULL, ~0ULL, all);
  if (!status.ok()) return status;
  return all.removed;
}

template <fabric::Endpoint E>
Result<SweepPart> Session<E>::sweep_part(std::uint32_t rank, std::uint64_t from,
                                         std::uint64_t lines) {
  if (rank >= ep_.ranks() || from >= geometry_.stripes() || lines == 0) {
    return Status(
        Code::kInvalidArgument,
        "a part of a sweep begins at stripe 0 or where the last part ended, and visits at "
        "least one line");
  }
  begin_time(rank);
  const std::uint64_t now = operation_time();
  SweepPart part;
  if (ep_.load(fabric::rma, geometry_.header(rank) + kExpiringOffset) == 0) return part;
  part.next = from;
  const std::uint64_t due = now - std::min(now, kSweepBatchMs);
  const Status status = sweep_due(rank, due, kMaxStripesPerPart, lines, part);
  part.skipped = status.ok() ? 0 : 1;  // the round goes on behind it
  return part;
}

}  // namespace keyway::store
