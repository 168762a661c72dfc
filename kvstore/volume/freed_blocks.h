// FreedBlocks<E>: the blocks that operations have made free, until their stripes are unlocked.
//
// *Thread safety.* One session's.
// *Invariants.* K3 and K4 of session.h: room to note a block is made before anything changes, and a
// block returns to the heap after the last word that refers to it is gone.
#pragma once

#include <cstdint>
#include <vector>

#include "keyway/kvstore/volume/heap.h"
#include "keyway/kvstore/volume/move_pace.h"
#include "keyway/locks/base/reserve_more.h"

namespace keyway::store {

template <fabric::Endpoint E>
class FreedBlocks {
 public:
  /// The maximum number of blocks that one write frees.
  static constexpr std::size_t kMaxOfWrite = 2;

  FreedBlocks(Heap<E>& heap, MovePace& pace) : heap_(heap), pace_(pace) { blocks_.reserve(32); }
  FreedBlocks(const FreedBlocks&) = delete;
  FreedBlocks& operator=(const FreedBlocks&) = delete;

  /// Reserves memory to note `more` blocks.
  [[gnu::always_inline]] void reserve(std::size_t more) { reserve_more(blocks_, more); }
  /// Notes a block, for which there is room.
  void add(std::uint32_t rank, const Block& block) { blocks_.push_back({rank, block}); }
  /// Frees them all. No stripe is locked that guards a word which referred to one, or its unlock is
  /// on the way.
  void collect() {
    while (!blocks_.empty()) {  // K4
      const Freed freed = blocks_.back();
      const std::uint64_t bytes = heap_.capacity(freed.rank, freed.block);
      blocks_.pop_back();  // before, so that an exception never lets it be freed twice
      heap_.free(freed.rank, freed.block, bytes);
      pace_.freed(freed.rank, bytes);
    }
  }

 private:
  struct Freed {
    std::uint32_t rank = 0;
    Block block;
  };

  Heap<E>& heap_;
  MovePace& pace_;
  std::vector<Freed> blocks_;
};

}  // namespace keyway::store
