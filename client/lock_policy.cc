#include "keyway/client/lock_policy.h"

#include <algorithm>
#include <vector>

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
  std::vector<const locks::Footprint*> kinds = locks::candidates();
  const locks::Footprint* first = &locks::choose(kinds, hinted, costs);
  LockPolicy policy{.lock = locks::StripeLock(locks::AnyLock()), .automatic = true};
  policy.why = locks::why(kinds, hinted, costs);
  const auto on_every_rank = [](const locks::Footprint* kind) {
    return locks::AnyLock::make(kind->text)->traits().satellites;
  };
  // The first kind is in force where memory is zero; those with words on every rank come next.
  std::stable_sort(kinds.begin(), kinds.end(), [&](const auto* a, const auto* b) {
    return std::pair(a != first, !on_every_rank(a)) < std::pair(b != first, !on_every_rank(b));
  });
  std::vector<locks::AnyLock> made;
  for (const locks::Footprint* kind : kinds) {
    auto lock = locks::AnyLock::make(kind->text);
    if (!lock.ok()) return lock.status();
    made.push_back(*lock);
    if (lock->traits().satellites) policy.satellite_kinds = made.size();
  }
  policy.lock = locks::StripeLock(std::move(made));
  // One agent of each part of the job may be about to visit a lock that is left.
  policy.choice = {std::move(kinds), costs, static_cast<double>(nodes)};
  return policy;
}

}  // namespace keyway::client
