#include "keyway/server/named_locks/lock_state.h"

#include <algorithm>
#include <utility>

#include "keyway/locks/base/check.h"

namespace keyway::server {
namespace {

bool lets_in(const LockState& lock, LockMode mode) {
  if (lock.holders.empty()) return true;
  return mode == LockMode::kRead && lock.holders.front().mode == LockMode::kRead;
}

std::uint64_t grant(LockState& lock, LockClaim claim, Turn& turn) {
  KW_CHECK_MSG(lets_in(lock, claim.mode), "N1", lock.name);
  claim.token = ++turn.last_token;
  claim.at_ms = turn.now_ms + claim.lease_ms;
  turn.changed = true;
  lock.holders.push_back(std::move(claim));
  return turn.last_token;
}

LockClaim* find(std::vector<LockClaim>& claims, ClientRef who) {
  const auto at = std::find_if(claims.begin(), claims.end(),
                               [&](const LockClaim& claim) { return claim.who == who; });
  return at == claims.end() ? nullptr : &*at;
}

LockClaim* find_token(LockState& lock, std::uint64_t token) {
  const auto at = std::find_if(lock.holders.begin(), lock.holders.end(),
                               [&](const LockClaim& claim) { return claim.token == token; });
  return at == lock.holders.end() ? nullptr : &*at;
}

/// Removes claims for which `goes` holds, grants waiters that can enter, and lists the clients to
/// wake.
template <class Goes>
void remove_if(LockState& lock, Goes&& goes, Turn& turn) {
  const ClientRef before = lock.waiters.empty() ? ClientRef{} : lock.waiters.front().who;
  const bool left = std::erase_if(lock.holders, goes) + std::erase_if(lock.waiters, goes) != 0;
  if (!left) return;
  turn.changed = true;
  std::size_t let_in = 0;
  for (; let_in < lock.waiters.size(); ++let_in) {
    LockClaim& first = lock.waiters[let_in];
    if (!lets_in(lock, first.mode)) break;
    turn.wake.push_back(first.who);
    grant(lock, std::move(first), turn);
  }
  lock.waiters.erase(lock.waiters.begin(),
                     lock.waiters.begin() + static_cast<std::ptrdiff_t>(let_in));
  if (lock.waiters.empty() || lock.waiters.front().who == before) return;
  turn.wake.push_back(lock.waiters.front().who);
}

/// Only the first waiter checks by itself when a lease ends: a client that becomes the first is
/// woken (N5).
Standing waiting(const LockState& lock, const LockClaim& waiter) {
  Standing standing{.kind = Standing::Kind::kWaiting};
  if (&waiter != &lock.waiters.front()) return standing;
  const auto next =
      std::min_element(lock.holders.begin(), lock.holders.end(),
                       [](const LockClaim& a, const LockClaim& b) { return a.at_ms < b.at_ms; });
  KW_CHECK_MSG(next != lock.holders.end(), "N2", lock.name);
  standing.look_at_ms = next->at_ms;
  return standing;
}

}  // namespace

void end_lapsed(LockState& lock, Turn& turn) {
  remove_if(
      lock, [&](const LockClaim& claim) { return claim.token != 0 && claim.at_ms <= turn.now_ms; },
      turn);
}

Standing ask(LockState& lock, LockClaim claim, bool may_wait, std::size_t most_waiters,
             Turn& turn) {
  KW_DCHECK(find(lock.waiters, claim.who) == nullptr);
  if (const LockClaim* held = find(lock.holders, claim.who)) {
    return {.kind = Standing::Kind::kHoldsAlready, .token = held->token};
  }
  if (lock.waiters.empty() && lets_in(lock, claim.mode)) {
    return {.kind = Standing::Kind::kGranted, .token = grant(lock, std::move(claim), turn)};
  }
  if (!may_wait) return {.kind = Standing::Kind::kBusy};
  if (lock.waiters.size() >= most_waiters) return {.kind = Standing::Kind::kTooMany};
  claim.at_ms = turn.now_ms;
  turn.changed = true;
  return waiting(lock, lock.waiters.emplace_back(std::move(claim)));
}

Standing look(LockState& lock, ClientRef who, bool give_up, Turn& turn) {
  if (LockClaim* held = find(lock.holders, who)) {
    held->at_ms = turn.now_ms + held->lease_ms;
    turn.changed = true;
    return {.kind = Standing::Kind::kGranted, .token = held->token};
  }
  const LockClaim* waiter = find(lock.waiters, who);
  if (waiter == nullptr) return {.kind = Standing::Kind::kBusy};
  if (!give_up) return waiting(lock, *waiter);
  leave(lock, who, turn);
  return {.kind = Standing::Kind::kBusy};
}

bool release(LockState& lock, std::uint64_t token, Turn& turn) {
  if (find_token(lock, token) == nullptr) return false;
  remove_if(
      lock, [&](const LockClaim& claim) { return claim.token == token; }, turn);
  return true;
}

bool renew(LockState& lock, std::uint64_t token, std::uint64_t lease_ms, Turn& turn) {
  LockClaim* held = find_token(lock, token);
  if (held == nullptr) return false;
  if (lease_ms != 0) held->lease_ms = lease_ms;
  const std::uint64_t before = std::exchange(held->at_ms, turn.now_ms + held->lease_ms);
  if (held->at_ms < before && !lock.waiters.empty()) {
    turn.wake.push_back(lock.waiters.front().who);
  }
  turn.changed = true;
  return true;
}

void leave(LockState& lock, ClientRef who, Turn& turn) {
  remove_if(
      lock, [&](const LockClaim& claim) { return claim.who == who; }, turn);
}

}  // namespace keyway::server
