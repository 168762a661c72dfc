// Lock policy: which lock kinds a store's stripes may have, and which they begin with. Internal.
//
// `lock=default` is auto or GBH by the job. `lock=KIND[:LEVERS]` is that kind permanently.
// `lock=auto` is every kind that may pay, beginning with the best one for the hints. The agents of
// a job must agree on it before anything is measured, so that first choice uses nominal costs. Then
// process 0 measures (lock_costs=measured), and all continue with its results: processes with
// different costs would switch back and forth.
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
  bool queued = false;    // a kind needs queue nodes
  bool measured = false;  // choice.costs are, or are to be, measured as the store opens
  std::string why;  // for people: the alternatives to the first kind, or that it was requested
};

/// The part of a job that a choice depends on.
struct Job {
  std::uint32_t nodes = 1;  // parts that reach each other by the fabric only
  // Ranks read keys of other nodes without locks, and send edits of them to the owners.
  bool edits_travel = false;
};

inline constexpr std::string_view kDefaultLock = "default";
/// Its meaning: a lock kind, or "auto".
std::string default_lock(const Job& job);

Result<LockPolicy> lock_policy(const StoreOptions& options, const Job& job);

/// Costs to begin with, before any are measured.
locks::PrimitiveCosts nominal_costs(std::uint32_t nodes);
/// Parses the option lock_costs: the nominal costs, except those that it names.
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
