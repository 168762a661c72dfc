#include "keyway/client/lock_policy.h"

#include <utility>

#include "keyway/kvstore/kind_policy.h"

namespace keyway::client {
namespace {

constexpr std::string_view kAutomatic = "auto";

Result<LockPolicy> fixed(const StoreOptions& options) {
  auto lock = locks::AnyLock::make(options.lock);
  if (!lock.ok()) return lock.status();
  const locks::LockTraits traits = lock->traits();
  if (traits.name == locks::NoLock::kName && !options.benchmark) {
    return Status(Code::kInvalidArgument,
                  "lock=none excludes nobody and loses data: it is for benchmarks, and needs "
                  "benchmark=on beside it");
  }
  return LockPolicy{.lock = locks::StripeLock(*lock),
                    .satellite_kinds = traits.satellites ? 1u : 0u,
                    .why = "as asked for"};
}

}  // namespace

// Orders of magnitude only, of no machine in particular: processors' atomics in tens of ns, a
// card's in microseconds. What is measured later takes their place.
locks::PrimitiveCosts nominal_costs(std::uint32_t nodes) {
  if (nodes <= 1) return {};
  return {.cpu_atomic_ns = 20,
          .loopback_ns = 500,
          .rma_atomic_ns = 2000,
          .posted_ns = 100,
          .nodes = static_cast<double>(nodes),
          .counters = static_cast<double>(nodes)};
}

Result<LockPolicy> lock_policy(const StoreOptions& options, std::uint32_t nodes) {
  if (options.lock != kAutomatic) return fixed(options);
  const locks::Workload hinted{
      .reads = options.expect_reads / 100.0,
      .local = options.expect_local != 0 ? options.expect_local / 100.0 : 1.0 / nodes};
  const locks::PrimitiveCosts costs = nominal_costs(nodes);
  // One agent of each part of the job may be about to visit a lock that is left.
  auto automatic = store::automatic_policy(hinted, costs, nodes);
  if (!automatic.ok()) return automatic.status();
  LockPolicy policy{.lock = std::move(automatic->lock),
                    .satellite_kinds = automatic->satellite_kinds,
                    .choice = std::move(automatic->choice),
                    .automatic = true,
                    .why = std::move(automatic->why)};
  return policy;
}

}  // namespace keyway::client
