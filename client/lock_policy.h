// Lock policy: which lock kinds a store's stripes may have, and which they begin with. Internal.
//
// `lock=KIND[:LEVERS]` is that kind for good. `lock=auto` is every kind that may pay, beginning
// with the one that the hints ask for; the agents of a job must agree on it before anything is
// measured, so that first choice goes by nominal costs.
#pragma once

#include <cstdint>
#include <string>

#include "keyway/client/client.h"
#include "keyway/kvstore/stripe_monitor.h"
#include "keyway/locks/distributed/choose.h"
#include "keyway/locks/distributed/stripe_lock.h"

namespace keyway::client {

struct LockPolicy {
  locks::StripeLock lock;
  std::uint32_t satellite_kinds = 0;  // see store::GeometryOptions
  store::KindChoice choice;           // lock=auto: how kinds are chosen while running
  bool automatic = false;
  std::string why;  // for people: what the first kind was chosen over, or that it was asked for
};

/// `nodes`: parts of the job that reach each other by the fabric only; 1 for an embedded store.
Result<LockPolicy> lock_policy(const StoreOptions& options, std::uint32_t nodes);

/// Costs to begin with, before any are measured.
locks::PrimitiveCosts nominal_costs(std::uint32_t nodes);

}  // namespace keyway::client
