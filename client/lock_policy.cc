#include "keyway/client/lock_policy.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "keyway/kvstore/stripes/kind_policy.h"
#include "keyway/locks/base/text_values.h"

namespace keyway::client {
namespace {

constexpr std::string_view kAutomatic = "auto";
constexpr std::string_view kMeasured = "measured";
constexpr std::string_view kNominal = "nominal";

bool is_kind_name(std::string_view text) {
  const auto& names = locks::AnyLock::kNames;
  return std::find(names.begin(), names.end(), text.substr(0, text.find(':'))) != names.end();
}

Result<LockPolicy> fixed(const StoreOptions& options) {
  auto lock = locks::AnyLock::make(options.lock);
  if (!lock.ok()) {
    return is_kind_name(options.lock)
               ? lock.status()
               : Status(lock.code(), fmt::format("{}, auto, or default", lock.status().message()));
  }
  const locks::LockTraits traits = lock->traits();
  if (traits.name == locks::NoLock::kName && !options.benchmark) {
    return Status(
        Code::kInvalidArgument,
        "lock=none does not exclude writers and loses data: it is for benchmarks, and needs "
        "benchmark=on beside it");
  }
  return LockPolicy{.lock = locks::StripeLock(*lock),
                    .satellite_kinds = traits.satellites ? 1u : 0u,
                    .queued = traits.queued,
                    .why = "as asked for"};
}

}  // namespace

// Orders of magnitude only, of no machine in particular: processors' atomics in tens of ns, a
// card's in microseconds. Measured costs replace them.
locks::PrimitiveCosts nominal_costs(std::uint32_t nodes) {
  if (nodes <= 1) return {};
  return {.cpu_atomic_ns = 20,
          .loopback_ns = 500,
          .rma_atomic_ns = 2000,
          .posted_ns = 100,
          .nodes = static_cast<double>(nodes),
          .counters = static_cast<double>(nodes)};
}

Result<locks::PrimitiveCosts> lock_costs(std::string_view text, std::uint32_t nodes) {
  locks::PrimitiveCosts costs = nominal_costs(nodes);
  if (text == kMeasured || text == kNominal) return costs;
  const std::pair<std::string_view, double*> known[] = {{"cpu", &costs.cpu_atomic_ns},
                                                        {"loopback", &costs.loopback_ns},
                                                        {"rma", &costs.rma_atomic_ns},
                                                        {"posted", &costs.posted_ns},
                                                        {"order", &costs.order_ns}};
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t colon = std::min(part.find(':'), part.size());
    const auto named = std::find_if(std::begin(known), std::end(known), [&](const auto& cost) {
      return cost.first == part.substr(0, colon);
    });
    const auto ns = whole_number<std::uint32_t>(part.substr(std::min(colon + 1, part.size())));
    if (named == std::end(known) || !ns) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("lock_costs: '{}' is malformed: write measured, nominal, or a list of "
                      "cpu, loopback, rma, posted and order with their ns, such as rma:2000",
                      part));
    }
    *named->second = *ns;
  }
  return costs;
}

std::string default_lock(const Job& job) {
  return job.edits_travel ? std::string(kAutomatic) : "gbh:lockall=off,versions=on";
}

Result<LockPolicy> lock_policy(const StoreOptions& options, const Job& job) {
  if (options.lock != kAutomatic) return fixed(options);
  const double keys = options.expect_local != 0 ? options.expect_local / 100.0 : 1.0 / job.nodes;
  // Where edits travel, other nodes read without locks, and owners lock for the edits of others.
  const auto which =
      job.edits_travel ? store::OnEveryRank::kWithout : store::OnEveryRank::kWithThose;
  const locks::Workload hinted{.reads = options.expect_reads / 100.0,
                               .local = job.edits_travel ? 1.0 : keys};
  const auto costs = lock_costs(options.lock_costs, job.nodes);
  if (!costs.ok()) return costs.status();
  // One agent of each part of the job may be about to acquire a lock that is left.
  auto automatic = store::automatic_policy(hinted, *costs, job.nodes, which);
  if (!automatic.ok()) return automatic.status();
  LockPolicy policy{.lock = std::move(automatic->lock),
                    .satellite_kinds = automatic->satellite_kinds,
                    .choice = std::move(automatic->choice),
                    .automatic = true,
                    .queued = true,
                    .measured = options.lock_costs == kMeasured,
                    .why = std::move(automatic->why)};
  return policy;
}

}  // namespace keyway::client
