// The clocks by which expiries are judged, and the words of a volume that they meet in.
//
// *What.* An expiry is a time of day in ms since 1970 UTC. It belongs to the rank that owns its
// key: the owner's clock decides when it has come. Two words of each volume's header carry that
// clock:
//   time   the latest time up to which some session has told a caller that elements are past
//   clock  the owner's clock, which the owner refreshes every kClockEveryMs; 0: never yet
// Example: rank 0's clock is 3 s ahead. A session of rank 0 finds a key of its rank past and raises
// `time` to the key's expiry. A session of rank 1 reads both words with the key's element and finds
// the key past as well, although its own clock says otherwise.
// *Thread safety.* A LocalClock belongs to one session or thread. The words are shared.
// *Invariants.*
//   T1  An operation uses one time for all its keys, read while it holds all its locks. A read
//       without a lock reads it before it is confirmed (LR2 of local_reader.h).
//   T2  `time` never decreases: a compare-and-swap of class `rma` alone changes it, to a later one.
//   T3  Before an operation reports or removes an element that is past, `time` of that element's
//       volume is at least its expiry. Before it reports how long an element still has, `time` of
//       the volume is at least the time that the report counts from.
//   T4  An operation's time is at least `time` and `clock` of every volume of which it holds a
//       lock, or reads a key.
//   T5  The time of a volume is at most the owner's clock and kClockGapMs, or `time` where that is
//       later: the clock of a remote reader does not matter beyond that.
// So an element that any session on any rank has found past never comes back, elements of one
// expiry go together, and a reported time to live never grows unless a client sets it.
// *Source.* Ours. To advance to the latest time seen is what a Lamport clock does (CACM'78).
#pragma once

#include <algorithm>
#include <cstdint>

#include "keyway/locks/fabric/pending.h"

namespace keyway::store {

/// How often an owner refreshes `clock`.
inline constexpr std::uint64_t kClockEveryMs = 50;
/// How far a remote reader trusts its own clock beyond the owner's `clock`: twice the maximum age
/// of the word, and the same again for an owner with a late refreshing thread.
inline constexpr std::uint64_t kClockGapMs = 4 * kClockEveryMs;

/// The two words.
struct ClockWords {
  std::uint64_t time = 0;
  std::uint64_t clock = 0;
};
/// The same of a remote volume, on their way.
struct PostedClockWords {
  fabric::Pending time;
  fabric::Pending clock;

  ClockWords value(const fabric::Flushed& receipt) const {
    return {time.value(receipt), clock.value(receipt)};
  }
};

/// A host's wall clock that never goes back. If the wall clock is set back, this one continues, an
/// eighth slower, until the wall clock has caught up.
class LocalClock {
 public:
  /// The time now. `steady_ns()` is called only while the wall clock is behind.
  template <class SteadyNs>
  std::uint64_t read(std::uint64_t wall_ms, SteadyNs&& steady_ns) {
    if (wall_ms >= latest_ms_) {
      ahead_ = false;
      return latest_ms_ = wall_ms;
    }
    const std::uint64_t steady_ms = steady_ns() / 1'000'000;
    if (!ahead_) {
      ahead_ = true;
      from_ms_ = latest_ms_;
      from_steady_ms_ = steady_ms;
    }
    const std::uint64_t passed = steady_ms - from_steady_ms_;
    return latest_ms_ = std::max(latest_ms_, from_ms_ + passed - passed / kSlowedBy);
  }
  /// Another clock has shown this time.
  void advance_to(std::uint64_t ms) {
    if (ms <= latest_ms_) return;
    latest_ms_ = ms;
    ahead_ = false;
  }

 private:
  static constexpr std::uint64_t kSlowedBy = 8;

  std::uint64_t latest_ms_ = 0;
  bool ahead_ = false;  // ahead of the wall clock, since the two below
  std::uint64_t from_ms_ = 0;
  std::uint64_t from_steady_ms_ = 0;
};

/// The time of a remote volume, for a reader whose own clock shows `wall_ms` (T4, T5).
inline std::uint64_t remote_time(ClockWords words, std::uint64_t wall_ms) {
  if (words.clock != 0) wall_ms = std::clamp(wall_ms, words.clock, words.clock + kClockGapMs);
  return std::max(words.time, wall_ms);
}

}  // namespace keyway::store
