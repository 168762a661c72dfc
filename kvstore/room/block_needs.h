// BlockNeeds<E>: how many blocks of which size several writes need.
//
// *Thread safety.* A value of one operation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "keyway/kvstore/layout/size_class.h"
#include "keyway/kvstore/volume/heap.h"

namespace keyway::store {

template <fabric::Endpoint E>
class BlockNeeds {
 public:
  void add(std::uint32_t rank, std::uint64_t bytes) {
    const std::uint32_t c = class_for(bytes);
    const std::uint64_t size = c == kRunClass ? run_chunks(bytes) * kChunkBytes : class_bytes(c);
    for (Need& need : needs_) {
      if (need.rank == rank && need.bytes == size) {
        ++need.count;
        return;
      }
    }
    needs_.push_back({rank, size, 1});
  }
  /// Leases them all, or says no. Runs first, the longest before the others: a block finds room in
  /// many places, and may take a chunk of the gap that a run needs.
  bool reserve(Heap<E>& heap) {
    std::sort(needs_.begin(), needs_.end(),
              [](const Need& a, const Need& b) { return a.bytes > b.bytes; });
    for (const Need& need : needs_) {
      if (heap.ensure(need.rank, need.bytes, need.count)) continue;
      heap.note_shortage(shortage_of(need));
      return false;
    }
    // A later ensure() may have returned blocks that an earlier one leased.
    for (const Need& need : needs_) {
      if (heap.ready(need.rank, need.bytes, need.count)) continue;
      heap.note_shortage(shortage_of(need));
      return false;
    }
    return true;
  }

 private:
  struct Need {
    std::uint32_t rank;
    std::uint64_t bytes;  // size of the class, or of the whole run
    std::uint64_t count;
  };
  /// For a run, the chunks of all runs of that rank: leased blocks are returned before elements are
  /// moved, so a move makes one gap for all of them. Live runs may leave no place for such a gap:
  /// then a move makes one for this run, and the others find a place elsewhere.
  Shortage shortage_of(const Need& lacking) const {
    if (class_for(lacking.bytes) != kRunClass) return {lacking.rank, 1};
    Shortage all{lacking.rank, 0, run_chunks(lacking.bytes)};
    for (const Need& need : needs_) {
      const bool run = class_for(need.bytes) == kRunClass && need.rank == lacking.rank;
      all.chunks += run ? need.count * run_chunks(need.bytes) : 0;
    }
    return all;
  }

  std::vector<Need> needs_;
};

}  // namespace keyway::store
