// MovePlan: which chunks of a heap to empty, so that they become free for any class.
//
// *What.* One live block pins a chunk to its class. From the state words of a heap's chunks, as
// read once, this chooses sparse chunks with blocks that fit into other chunks. heap_move.h and
// kvstore/room carry the plan out. It reads nothing else, so a plan is a function of the states.
// *Thread safety.* None.
// *Invariants.*
//   M1  By the states given, what the chosen chunks hold fits elsewhere. The blocks of single
//       chunks fit into chunks in use of the same classes, so that each chosen chunk is a gain;
//       those of a window fit into these and free chunks outside of the window.
//   M2  A plan moves at most kMaxBlocks blocks and kMaxBytes bytes.
//   M3  Of the chunks of a class that have room, a plan of single chunks leaves at least half as
//       they are: all free blocks of the others are taken while these are being emptied, and other
//       agents need some. A window may take the only chunk with room of a class: otherwise a rare
//       class could keep every window from being emptied. A window is a few neighbours, and an
//       agent that lacks a block meanwhile cuts a free chunk.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "keyway/kvstore/layout/chunk_state.h"

namespace keyway::store {

class MovePlan {
 public:
  /// An operation that finds the heap full pays for a walk of the table and for the moves. This
  /// many moves take about as long as a walk of the table of a default store.
  static constexpr std::uint64_t kMaxBlocks = 8192;
  static constexpr std::uint64_t kMaxBytes = 8 << 20;
  /// The number of windows with blocks that are compared, class by class, with the room elsewhere.
  static constexpr std::uint64_t kMaxTried = 64;

  explicit MovePlan(std::span<const ChunkState> states);

  /// The numbers of the chosen chunks, or the first chunk of one window; none if nothing fits.
  struct Choice {
    std::vector<std::uint64_t> chunks;
    std::uint64_t width = 1;  // width of the window
    std::uint64_t next = 0;   // the candidate behind the last one; 0: there is none
  };
  /// Single chunks, those with the fewest live bytes first. Candidates before number `from` are
  /// left out: an earlier plan has chosen them and gained nothing.
  Choice chunks(std::uint64_t from) const;
  /// `width` neighbours without a run among them, those with the fewest live bytes; `from` as
  /// above.
  Choice window(std::uint64_t width, std::uint64_t from) const;

 private:
  using ByClass = std::array<std::int64_t, kClasses>;
  struct Candidate {
    std::uint64_t bytes;
    std::uint64_t first;

    auto operator<=>(const Candidate&) const = default;
  };
  std::vector<Candidate> sparse_chunks() const;
  std::vector<Candidate> windows(std::uint64_t width) const;
  bool fits(std::uint64_t first, std::uint64_t width) const;

  std::span<const ChunkState> states_;
  ByClass room_{};     // free blocks of chunks in use
  ByClass partial_{};  // chunks that have some
  std::int64_t free_chunks_ = 0;
};

}  // namespace keyway::store
