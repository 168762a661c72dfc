// Session<E>: the time of an operation. Included by session_impl.h.
//
// The time is read when the first element with an expiry is met: operations on elements without one
// read no clock. expiry_clock.h has the invariants, T1 to T5.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "keyway/kvstore/session.h"

namespace keyway::store {

/// An operation on keys of this rank begins: what has been read of clocks is forgotten.
template <fabric::Endpoint E>
inline void Session<E>::begin_time(std::uint32_t rank) {
  if (alone_) return;  // all that happens in alone() happens at one time
  if (owners_.size() != 1) owners_.resize(1);
  owners_.front() = rank;
  now_ms_ = 0;
  words_read_ = false;
}

/// Posts reads of a remote volume's words; the result is there after the rank's flush.
template <fabric::Endpoint E>
PostedClockWords Session<E>::post_clock_words(std::uint32_t rank) {
  const fabric::Address header = geometry_.header(rank);
  return {ep_.post_load(fabric::rma, header + kTimeOffset),
          ep_.post_load(fabric::rma, header + kClockOffset)};
}

/// The time of a volume of this host: its wall clock, after whatever the words have been told. The
/// owner's word is refreshed on the way. Its stores are plain ones, of which any may come last: the
/// word may go back by as much as one store is late, and what has been reported is in `time`.
template <fabric::Endpoint E>
std::uint64_t Session<E>::local_time(std::uint32_t rank) {
  const fabric::Address header = geometry_.header(rank);
  // acquire: by the raise that T3 orders before an answer, which whoever runs this may know of.
  const std::uint64_t time = ep_.load(fabric::cpu, header + kTimeOffset);
  const std::uint64_t shown = ep_.load(fabric::cpu, header + kClockOffset);
  clock_.advance_to(std::max(time, shown));
  const std::uint64_t now = clock_.read(ep_.wall_ms(), [this] { return ep_.now_ns(); });
  if (now - shown >= kClockEveryMs) ep_.store(fabric::cpu, header + kClockOffset, now);
  return now;
}

/// T1: the time of the operation under way, the latest of its owners'. The locks are held. The
/// words of remote owners are read in one round trip each, unless they have come with the element.
template <fabric::Endpoint E>
std::uint64_t Session<E>::operation_time() {
  if (now_ms_ != 0) return now_ms_;
  constexpr std::size_t kAtOnce = 16;  // of two words: their results wait in the agent's slots
  std::uint64_t latest = 0;
  std::array<PostedClockWords, kAtOnce> posted;
  for (std::size_t from = 0; from < owners_.size(); from += kAtOnce) {
    const auto part = std::span(owners_).subspan(from, std::min(kAtOnce, owners_.size() - from));
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (!ep_.is_local(part[i]) && !words_read_) posted[i] = post_clock_words(part[i]);
    }
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (ep_.is_local(part[i])) {
        latest = std::max(latest, local_time(part[i]));
        continue;
      }
      if (!words_read_) words_ = posted[i].value(ep_.flush(part[i]));
      latest = std::max(latest, remote_time(words_, ep_.wall_ms()));
    }
  }
  words_read_ = owners_.size() == 1;
  return now_ms_ = latest;
}

/// T2. Costs a look where the word is late enough already: a load on this host, and of a remote
/// volume nothing where the operation has read the word.
template <fabric::Endpoint E>
void Session<E>::raise_time(std::uint32_t rank, std::uint64_t ms) {
  const fabric::Address word = geometry_.header(rank) + kTimeOffset;
  std::uint64_t seen = 0;
  if (ep_.is_local(rank)) {
    seen = ep_.load(fabric::cpu, word);
  } else {
    seen = words_read_ ? words_.time : ep_.load(fabric::rma, word);
  }
  while (seen < ms) {
    // release: whoever is told what this operation answers, and then reads the word, finds it
    // raised.
    const std::uint64_t before = ep_.compare_swap(fabric::rma, word, seen, ms);
    seen = before == seen ? ms : before;
  }
  words_.time = seen;  // of a remote volume: as far as this operation knows
}

/// Whether an expiry has come for the operation under way.
template <fabric::Endpoint E>
bool Session<E>::has_come(std::uint64_t expires_at_ms) {
  return expires_at_ms != kNoExpiry && expires_at_ms <= operation_time();
}

/// The same of an element that the operation then reports as absent, or removes (T3).
template <fabric::Endpoint E>
bool Session<E>::is_past(std::uint32_t rank, std::uint64_t expires_at_ms) {
  if (!has_come(expires_at_ms)) return false;
  raise_time(rank, expires_at_ms);
  return true;
}

template <fabric::Endpoint E>
std::uint64_t Session<E>::now_ms(std::string_view key) {
  if (alone_ || deciding_) return operation_time();
  const std::uint32_t owner = owner_of(key);
  if (ep_.is_local(owner)) return local_time(owner);
  const PostedClockWords words = post_clock_words(owner);
  return remote_time(words.value(ep_.flush(owner)), ep_.wall_ms());
}

}  // namespace keyway::store
