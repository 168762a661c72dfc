// The heap's account by one of the store's own sessions, on any fabric.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>

namespace keyway::test {

/// Live, free and leased bytes are the heap, on every rank. Call at rest, with no other session
/// open.
template <class S>
void check_volumes(S& walker, std::uint32_t ranks) {
  std::uint64_t elements = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const auto report = walker.report(rank);
    INFO(report.status().message());
    REQUIRE(report.ok());
    const std::uint64_t leased = walker.leased_bytes(rank);
    CAPTURE(rank, report->live_bytes, report->heap.free_bytes, leased);
    CHECK(report->live_bytes + report->heap.free_bytes + leased == report->heap.heap_bytes);
    elements += report->elements;
  }
  CHECK(walker.size() == elements);
}

}  // namespace keyway::test
