// The store on the fabric with late posted operations, compiled once for all its tests.
#pragma once

#include <cstdint>
#include <utility>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/session.h"
#include "keyway/locks/distributed/stripe_lock.h"
#include "tests/conformance/deferred_fabric.h"

namespace keyway::store {

extern template class KeyOperations<Session<conformance::DeferredEndpoint>>;
extern template class Session<conformance::DeferredEndpoint>;

}  // namespace keyway::store

namespace keyway::test {

using LazySession = store::Session<conformance::DeferredEndpoint>;

/// A fabric with a segment of this geometry on each rank.
inline conformance::DeferredFabric deferred_fabric(const store::Geometry& geometry,
                                                   std::uint32_t ranks,
                                                   std::uint32_t agents_per_rank,
                                                   std::uint64_t seed = 1) {
  conformance::DeferredFabric::Options options;
  options.ranks = ranks;
  options.segment_bytes = geometry.segment_bytes();
  options.agents_per_rank = agents_per_rank;
  options.seed = seed;
  return std::move(*conformance::DeferredFabric::create(options));
}

}  // namespace keyway::test
