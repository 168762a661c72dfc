// KindPolicy: the lock kinds among which a store's stripes may change, and the one they begin with.
//
// *What.* Every kind that may pay (locks::candidates()), in an order that all processes of a job
// agree on: first the one that the hints name, then those with words on every rank, as the geometry
// wants them (GeometryOptions::satellite_kinds), then the rest.
// *Thread safety.* Plain data.
#pragma once

#include <cstdint>
#include <string>

#include "keyway/kvstore/stripes/stripe_monitor.h"
#include "keyway/locks/distributed/choose.h"
#include "keyway/locks/distributed/stripe_lock.h"

namespace keyway::store {

struct KindPolicy {
  locks::StripeLock lock;
  std::uint32_t satellite_kinds = 0;  // see GeometryOptions
  KindChoice choice;
  std::string why;  // for people: the alternatives to the first kind
};

/// Kinds with words on every rank make readers of each node quick, at the cost of writers.
enum class OnEveryRank : std::uint8_t { kWithThose, kWithout };

/// `hinted` and `costs` decide on the first kind alone, so they must be the same in all processes.
/// `agents`: those that may be about to acquire a lock that is left, see KindChoice.
Result<KindPolicy> automatic_policy(const locks::Workload& hinted,
                                    const locks::PrimitiveCosts& costs, double agents,
                                    OnEveryRank on_every_rank = OnEveryRank::kWithThose);

}  // namespace keyway::store
