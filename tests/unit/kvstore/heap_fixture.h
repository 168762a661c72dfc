// A heap on shared memory with nothing else around it, and what its words must say at rest.
#pragma once

#include <bit>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/session_shm.h"
#include "keyway/kvstore/volume/heap.h"

namespace keyway::store {

extern template class Heap<fabric::ShmEndpoint>;  // in session_shm.cc

}  // namespace keyway::store

namespace keyway::test {

using ShmHeap = store::Heap<fabric::ShmEndpoint>;

/// An agent with a heap, like a session's.
struct HeapAgent {
  HeapAgent(fabric::ShmFabric& fabric, const store::Geometry& geometry, std::uint32_t rank)
      : ep(std::move(*fabric.endpoint(rank))), heap(ep, geometry) {}
  fabric::ShmEndpoint ep;
  ShmHeap heap;
};

struct HeapFixture {
  /// The number of agents that a rank may have decides how much each of them may keep (H6).
  explicit HeapFixture(std::uint64_t memory_bytes = 2 << 20, std::uint32_t ranks = 1,
                       std::uint32_t agents_per_rank = 1)
      : geometry(*store::Geometry::plan({.memory_bytes = memory_bytes,
                                         .buckets = 16,
                                         .agents_per_rank = agents_per_rank,
                                         .nodes_per_agent = 1})),
        // A heap without a session uses no lock nodes, so a few agents more find their place.
        fabric(std::move(*fabric::ShmFabric::create({.ranks = ranks,
                                                     .segment_bytes = geometry.segment_bytes(),
                                                     .agents_per_rank = agents_per_rank + 8}))) {}
  std::unique_ptr<HeapAgent> agent(std::uint32_t rank = 0) {
    return std::make_unique<HeapAgent>(fabric, geometry, rank);
  }

  /// H1 at rest: every chunk has as many bits set as its state counts; runs are whole.
  void check_at_rest(HeapAgent& agent, std::uint32_t rank = 0) {
    using namespace store;
    std::uint64_t run_left = 0;
    for (std::uint64_t chunk = 0; chunk < geometry.chunks(); ++chunk) {
      const ChunkState state(agent.ep.load(fabric::rma, geometry.chunk_state(rank, chunk)));
      std::uint64_t bits = 0;
      for (std::uint64_t word = 0; word < kBitmapWords; ++word) {
        bits += static_cast<std::uint64_t>(std::popcount(
            agent.ep.load(fabric::rma, geometry.chunk_bitmap(rank, chunk) + word * 8)));
      }
      CAPTURE(chunk, state.kind(), state.count());
      REQUIRE(bits == (state.is_cut() ? state.count() : 0));
      if (state.is_cut()) REQUIRE(state.count() > 0);  // H2: an empty chunk is free
      if (run_left > 0) {
        REQUIRE(state.kind() == ChunkState::kRunRest);
        --run_left;
      } else {
        REQUIRE(state.kind() != ChunkState::kRunRest);
        if (state.kind() == ChunkState::kRunHead) run_left = state.count() - 1;
      }
    }
    REQUIRE(run_left == 0);
  }

  store::Geometry geometry;
  fabric::ShmFabric fabric;
};

}  // namespace keyway::test
