// MovePace: when a session may search again for elements to move, and where it begins.
//
// *What.* A plan or a walk that gains nothing costs time, and an operation that finds the heap full
// is often followed by others. So a session that has gained nothing pauses: for shortages of that
// rank that are as large or larger, until it has freed as much as was lacking.
// *Thread safety.* One session's.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "keyway/kvstore/volume/heap.h"

namespace keyway::store {

class MovePace {
 public:
  /// A pause is this many times as long as the failed work: so a session spends at most a tenth of
  /// its time on that.
  static constexpr std::uint64_t kPause = 9;
  /// Ranks with a pause at a time, so that nothing is allocated; of more, the pause that would end
  /// first is forgotten.
  static constexpr std::size_t kMaxPauses = 8;

  /// Writes have freed this many bytes of that rank.
  void freed(std::uint32_t rank, std::uint64_t bytes) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (pauses_[i].lacking.rank == rank) pauses_[i].freed += bytes;
    }
  }
  bool pauses(const Shortage& lacking, std::uint64_t now_ns) const {
    return std::any_of(pauses_.begin(), pauses_.begin() + count_, [&](const Pause& pause) {
      return now_ns < pause.until_ns && pause.lacking.rank == lacking.rank &&
             lacking.least() >= pause.lacking.least() &&
             pause.freed < pause.lacking.least() * kChunkBytes;
    });
  }
  /// The plan or the walk that began then for this shortage has gained nothing.
  void in_vain(const Shortage& lacking, std::uint64_t began_ns, std::uint64_t now_ns) {
    const auto end = pauses_.begin() + count_;
    auto at = std::find_if(pauses_.begin(), end,
                           [&](const Pause& pause) { return pause.lacking.rank == lacking.rank; });
    if (at == end && count_ < kMaxPauses) {
      ++count_;
    } else if (at == end) {
      at = std::min_element(pauses_.begin(), end,
                            [](const Pause& a, const Pause& b) { return a.until_ns < b.until_ns; });
    }
    *at = {.lacking = lacking, .until_ns = now_ns + kPause * (now_ns - began_ns)};
  }
  /// All stripes in turn: a walk begins where the last one ended.
  std::uint64_t next_stripe(std::uint64_t stripes) {
    return std::exchange(stripe_, (stripe_ + 1) % stripes);
  }

 private:
  struct Pause {
    Shortage lacking;
    std::uint64_t until_ns = 0;
    std::uint64_t freed = 0;  // bytes, since it began
  };
  std::size_t count_ = 0;  // used entries of pauses_; mostly none, so that freed() costs a compare
  std::array<Pause, kMaxPauses> pauses_{};
  std::uint64_t stripe_ = 0;
};

}  // namespace keyway::store
