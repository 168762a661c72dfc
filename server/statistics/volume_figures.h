// VolumeFigures: the contents of the memory of this process's ranks, as of the last check.
//
// *What.* A measurement reads the state of every chunk of the heap, so one thread measures once a
// second and the others read the figures: the cost of INFO does not depend on the size of the
// memory.
//
// *Thread safety.* One thread writes; any may read, and raise the peak.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>

#include "keyway/server/statistics/counter.h"

namespace keyway::server {

/// The figures of one rank.
struct RankFigures {
  Counter segment_bytes, table_bytes, lock_bytes, stripes;
  Counter heap_bytes, heap_free_bytes, heap_free_chunks;
};

struct VolumeFigures {
  /// For the ranks with memory in this process, in their order; made before any thread reads.
  std::deque<RankFigures> ranks;
  // The sums over all ranks.
  Counter elements, expiring;
  Counter longest_chain_lines;
  Counter segment_bytes, heap_bytes, heap_free_bytes;

  /// The most bytes in use that were ever seen, `used` of now included.
  std::uint64_t raise_peak(std::uint64_t used) {
    // relaxed: a figure for people.
    std::uint64_t peak = peak_.load(std::memory_order_relaxed);
    while (peak < used && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
    }
    return std::max(peak, used);
  }

 private:
  std::atomic<std::uint64_t> peak_{0};
};

}  // namespace keyway::server
