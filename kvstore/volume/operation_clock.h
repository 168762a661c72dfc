// OperationClock<E>: the time of the current operation, and the clock that it comes from.
//
// *What.* The time is read when the first element with an expiry is met: operations on elements
// without one read no clock. Example: a get of a remote key reads the two words of the owner's
// volume with the element, in one round trip, if the last element had an expiry.
// *Thread safety.* One session's. The words of volumes are shared.
// *Invariants.* T1 to T5 of expiry_clock.h.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/kvstore/volume/expiry_clock.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/endpoint.h"

namespace keyway::store {

template <fabric::Endpoint E>
class OperationClock {
 public:
  /// `timeout`: the span of an operation.
  OperationClock(E& ep, const Geometry& geometry, std::chrono::nanoseconds timeout)
      : ep_(ep), geometry_(geometry), soon_(Deadline::within(timeout / kPartForTime)) {
    owners_.reserve(1);  // begin() allocates nothing
  }
  OperationClock(const OperationClock&) = delete;
  OperationClock& operator=(const OperationClock&) = delete;

  /// An operation on keys of this rank begins: readings of clocks are forgotten.
  [[gnu::always_inline]] void begin(std::uint32_t rank) {
    if (pins_ != 0) return;
    if (owners_.size() != 1) owners_.resize(1);
    owners_.front() = rank;
    forget();
  }
  /// The same of an operation that the key's owner has carried out, at this time by its clock,
  /// to which it has raised `time`.
  void take(std::uint32_t rank, std::uint64_t now_ms) {
    if (pins_ != 0) return;
    begin(rank);
    now_ms_ = words_.time = now_ms;
    words_read_ = true;
  }
  /// The same for the ranks of several stripes, which are in order of rank: one time for all (T1).
  template <class Stripes>
  void begin_all(const Stripes& stripes) {
    if (pins_ != 0) return;
    owners_.clear();
    for (const auto& stripe : stripes) {
      if (owners_.empty() || owners_.back() != stripe.rank) {
        owners_.push_back(stripe.rank);
      }
    }
    forget();
  }
  /// Until unpin(), everything belongs to one operation: on several keys, or on the whole store.
  void pin() { ++pins_; }
  void unpin() { --pins_; }

  /// T1: the time of the current operation, the latest of its owners'. The locks are held, or the
  /// read is not confirmed yet. The words of remote owners are read in one round trip each, unless
  /// they have come with an element.
  std::uint64_t now();
  /// The time for a key of this rank, within an operation or outside of one. If the rank does not
  /// answer soon it is this host's: the operation that needs the time will not reach the rank.
  std::uint64_t now_at(std::uint32_t rank);
  /// T2. If the word is late enough already it costs only a read: a load on this host, and nothing
  /// for a remote volume whose word the operation has already read.
  void raise(std::uint32_t rank, std::uint64_t ms);
  /// Whether an expiry has come for the current operation.
  bool has_come(std::uint64_t expires_at_ms) {
    return expires_at_ms != kNoExpiry && expires_at_ms <= now();
  }
  /// The same of an element that the operation then reports as absent, or removes (T3).
  [[gnu::always_inline]] bool is_past(std::uint32_t rank, std::uint64_t expires_at_ms) {
    return expires_at_ms != kNoExpiry && found_past(rank, expires_at_ms);
  }

  /// Whether the last element that was read has an expiry: then the next one may have one as well.
  void expect_expiry(bool expires) { expects_expiry_ = expires; }
  /// Whether the words of a remote volume are likely to be needed, and can come with a read of its
  /// elements.
  bool wants_words() const {
    return expects_expiry_ && !words_read_ && now_ms_ == 0 && owners_.size() == 1;
  }
  /// Completes what post() posts to a remote rank, and the words, in one round trip.
  template <class Post>
  void read_with_words(std::uint32_t rank, Post&& post) {
    const PostedClockWords words = post_words(rank);
    post();
    words_ = words.value(ep_.flush(rank));
    words_read_ = true;
  }

 private:
  /// An operation that asks for the time first may end later than its deadline by this part of it.
  static constexpr int kPartForTime = 10;

  void forget() {
    now_ms_ = 0;
    words_read_ = false;
  }
  bool found_past(std::uint32_t rank, std::uint64_t expires_at_ms);
  PostedClockWords post_words(std::uint32_t rank);
  std::uint64_t local_time(std::uint32_t rank);

  E& ep_;
  const Geometry& geometry_;
  const Deadline soon_;
  LocalClock clock_;
  std::vector<std::uint32_t> owners_;  // owners of the operation's keys, each once
  std::uint64_t now_ms_ = 0;           // 0: not read yet
  ClockWords words_;                   // words of its one owner, if they came with an element
  std::uint32_t pins_ = 0;
  bool words_read_ = false;
  bool expects_expiry_ = false;
};

/// Posts reads of a remote volume's words; the result is there after the rank's flush.
template <fabric::Endpoint E>
PostedClockWords OperationClock<E>::post_words(std::uint32_t rank) {
  const fabric::Address header = geometry_.header(rank);
  return {ep_.post_load(fabric::rma, header + kTimeOffset),
          ep_.post_load(fabric::rma, header + kClockOffset)};
}

/// The time of a volume of this host: its wall clock, but not before the words' times. The owner's
/// word is refreshed as well. Its stores are plain, and any may come last: the word may go back by
/// the delay of one store; reported times are in `time`.
template <fabric::Endpoint E>
std::uint64_t OperationClock<E>::local_time(std::uint32_t rank) {
  const fabric::Address header = geometry_.header(rank);
  // acquire: pairs with the raise that T3 orders before an answer, which this agent may have seen.
  const std::uint64_t time = ep_.load(fabric::cpu, header + kTimeOffset);
  const std::uint64_t shown = ep_.load(fabric::cpu, header + kClockOffset);
  clock_.advance_to(std::max(time, shown));
  const std::uint64_t now = clock_.read(ep_.wall_ms(), [this] { return ep_.now_ns(); });
  if (now - shown >= kClockEveryMs) ep_.store(fabric::cpu, header + kClockOffset, now);
  return now;
}

template <fabric::Endpoint E>
std::uint64_t OperationClock<E>::now() {
  if (now_ms_ != 0) return now_ms_;
  constexpr std::size_t kAtOnce = 16;  // of two words: their results wait in the agent's slots
  std::uint64_t latest = 0;
  std::array<PostedClockWords, kAtOnce> posted;
  for (std::size_t from = 0; from < owners_.size(); from += kAtOnce) {
    const auto part = std::span(owners_).subspan(from, std::min(kAtOnce, owners_.size() - from));
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (!ep_.is_local(part[i]) && !words_read_) posted[i] = post_words(part[i]);
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
  // Another lane of the operation may have been quicker: T1 wants one time.
  if (now_ms_ == 0) now_ms_ = latest;
  return now_ms_;
}

template <fabric::Endpoint E>
std::uint64_t OperationClock<E>::now_at(std::uint32_t rank) {
  if (pins_ != 0) return now();
  if (ep_.is_local(rank)) return local_time(rank);
  if (!ep_.answers(rank, soon_)) {
    return clock_.read(ep_.wall_ms(), [this] { return ep_.now_ns(); });
  }
  const PostedClockWords words = post_words(rank);
  return remote_time(words.value(ep_.flush(rank)), ep_.wall_ms());
}

template <fabric::Endpoint E>
void OperationClock<E>::raise(std::uint32_t rank, std::uint64_t ms) {
  const fabric::Address word = geometry_.header(rank) + kTimeOffset;
  std::uint64_t seen = 0;
  if (ep_.is_local(rank)) {
    seen = ep_.load(fabric::cpu, word);
  } else {
    seen = words_read_ ? words_.time : ep_.load(fabric::rma, word);
  }
  while (seen < ms) {
    // release: an agent that learns this operation's answer, and then reads the word, finds it
    // raised.
    const std::uint64_t before = ep_.compare_swap(fabric::rma, word, seen, ms);
    seen = before == seen ? ms : before;
  }
  words_.time = seen;  // for a remote volume: as far as this operation knows
}

template <fabric::Endpoint E>
bool OperationClock<E>::found_past(std::uint32_t rank, std::uint64_t expires_at_ms) {
  if (!has_come(expires_at_ms)) return false;
  raise(rank, expires_at_ms);
  return true;
}

}  // namespace keyway::store
