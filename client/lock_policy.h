// Lock policy: which lock kinds a store's stripes may have, and which they begin with. Internal.
//
// `lock=KIND[:LEVERS]` is that kind for good. `lock=auto` is every kind that may pay, beginning
// with the one that the hints ask for; the agents of a job must agree on it before anything is
// measured, so that first choice goes by nominal costs. Then process 0 measures
// (lock_costs=measured), and all go on with what it found: processes of different minds would take
// turns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "keyway/client/client.h"
#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/stripes/stripe_monitor.h"
#include "keyway/locks/distributed/choose.h"
#include "keyway/locks/distributed/measure_costs.h"
#include "keyway/locks/distributed/stripe_lock.h"

namespace keyway::client {

struct LockPolicy {
  locks::StripeLock lock;
  std::uint32_t satellite_kinds = 0;  // see store::GeometryOptions
  store::KindChoice choice;           // lock=auto: how kinds are chosen while running
  bool automatic = false;
  bool measured = false;  // choice.costs are, or are to be, measured as the store opens
  std::string why;  // for people: what the first kind was chosen over, or that it was asked for
};

/// `nodes`: parts of the job that reach each other by the fabric only; 1 for an embedded store.
Result<LockPolicy> lock_policy(const StoreOptions& options, std::uint32_t nodes);

/// Costs to begin with, before any are measured.
locks::PrimitiveCosts nominal_costs(std::uint32_t nodes);
/// What the option lock_costs says: the nominal costs, but for those that it names.
Result<locks::PrimitiveCosts> lock_costs(std::string_view text, std::uint32_t nodes);

/// Costs as an agent of this process finds them, when the policy wants them measured.
template <class Fabric>
Status measure(Fabric& fabric, const store::Geometry& geometry, LockPolicy& policy) {
  if (!policy.measured) return {};
  auto endpoint = fabric.endpoint(fabric.rank());
  if (!endpoint.ok()) return endpoint.status();
  const std::uint64_t header = geometry.header(0).offset();
  policy.choice.costs = locks::measure_costs(
      *endpoint, {header + store::kCpuProbeOffset, header + store::kRmaProbeOffset});
  return {};
}

}  // namespace keyway::client
