// The account of a volume, by one of the store's own sessions, on any fabric: the running counts
// equal the results of a walk, and the heap never leaks.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>

#include "keyway/kvstore/layout/size_class.h"
#include "keyway/kvstore/types/types.h"

namespace keyway::test {

/// The most that a chunk has behind its last block, of all sizes of blocks.
constexpr std::uint64_t largest_rest() {
  std::uint64_t largest = 0;
  for (std::uint32_t c = 0; c < store::kClasses; ++c) {
    const std::uint64_t last = store::class_capacity(c) - 1;
    const auto span = store::block_span(c, static_cast<std::uint32_t>(last));
    largest = std::max(largest, span - store::class_bytes(c));
  }
  return largest;
}

/// Compares the results of a walk with the counts of sessions, and live, free and leased bytes with
/// the heap. At rest.
inline void check_volume(const store::VolumeReport& found, const store::VolumeUsage& counted,
                         std::uint64_t leased) {
  CAPTURE(found.live_bytes, found.heap.free_bytes, leased, found.heap.heap_bytes);
  CHECK(found.live_bytes + found.heap.free_bytes + leased == found.heap.heap_bytes);
  // Not less than the elements' own bytes, but for those that lie in the table.
  CHECK(found.live_bytes + found.elements * 16 >= found.key_bytes + found.value_bytes);
  CHECK(counted.elements == found.elements);
  CHECK(counted.expiring == found.expiring);
  CHECK(counted.longest_chain_lines >= found.longest_chain_lines);
  // A walk counts the rest of a chunk behind its last block as free; the running counts do not.
  CHECK(counted.heap.free_bytes <= found.heap.free_bytes);
  const std::uint64_t chunks = found.heap.heap_bytes / store::kChunkBytes;
  CHECK(counted.heap.free_bytes + chunks * largest_rest() >= found.heap.free_bytes);
}

/// For every rank. Call with no other session open.
template <class S>
void check_volumes(S& walker, std::uint32_t ranks) {
  std::uint64_t elements = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const auto report = walker.report(rank);
    INFO(report.status().message());
    REQUIRE(report.ok());
    CAPTURE(rank);
    check_volume(*report, walker.usage(rank), walker.leased_bytes(rank));
    elements += report->elements;
  }
  CHECK(*walker.size() == elements);
}

}  // namespace keyway::test
