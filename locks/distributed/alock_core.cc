#include "keyway/locks/distributed/alock_core.h"

#include <fmt/core.h>

namespace keyway::locks {
namespace {

/// The maximum budget: a budget and one bit are a grant's payload, and longer waits serve no
/// purpose.
constexpr std::uint64_t kMaxBudget = 1'000'000;

Result<std::uint32_t> take_budget(LockParams& params, const std::string& lever,
                                  std::uint32_t fallback) {
  auto budget = params.take_number(lever, fallback);
  if (!budget.ok()) return budget.status();
  if (*budget == 0 || *budget > kMaxBudget) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}={} is out of range: give 1 to {}", lever, *budget, kMaxBudget));
  }
  return static_cast<std::uint32_t>(*budget);
}

}  // namespace

Result<AlockRules> AlockRules::take(LockParams& params) {
  AlockRules rules;
  auto local = take_budget(params, "local_budget", rules.local_budget);
  if (!local.ok()) return local.status();
  auto remote = take_budget(params, "remote_budget", rules.remote_budget);
  if (!remote.ok()) return remote.status();
  auto tail = take_tail_rules(params, TailSwap::kSwap);
  if (!tail.ok()) return tail.status();
  auto backoff = params.take_backoff(fabric::Backoff::none());
  if (!backoff.ok()) return backoff.status();
  rules.local_budget = *local;
  rules.remote_budget = *remote;
  rules.tail = *tail;
  rules.backoff = *backoff;
  return rules;
}

}  // namespace keyway::locks
