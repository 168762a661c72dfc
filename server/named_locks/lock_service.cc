#include "keyway/server/named_locks/lock_service.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "keyway/kvstore/layout/key_hash.h"
#include "keyway/locks/base/clock.h"

namespace keyway::server {
namespace {

constexpr std::size_t kKeyBytes = 2;

/// A key for each slot: the CRC of two bytes is another one for each of them, so two bytes reach
/// every slot.
std::string keys_of_slots() {
  std::string keys(store::kSlots * kKeyBytes, '\0');
  for (std::uint32_t number = 0; number < 0x10000; ++number) {
    const char key[kKeyBytes] = {static_cast<char>(number >> 8), static_cast<char>(number)};
    const std::uint32_t slot = store::slot_of({key, kKeyBytes});
    std::copy_n(key, kKeyBytes, keys.begin() + slot * static_cast<std::ptrdiff_t>(kKeyBytes));
  }
  return keys;
}

std::uint64_t first_token() {
  using std::chrono::microseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<microseconds>(now).count());
}

LockState& lock_in(LockRecord& record, std::string_view name) {
  for (LockState& lock : record.locks) {
    if (lock.name == name) return lock;
  }
  LockState& lock = record.locks.emplace_back();
  lock.name = name;
  return lock;
}

TokenFit fit_of(const LockState& lock, bool holds) {
  if (holds) return TokenFit::kHolds;
  return lock.holders.empty() ? TokenFit::kNobodyHolds : TokenFit::kOthersHold;
}

}  // namespace

LockService::LockService(Store& store, std::uint32_t rank, const LockLimits& limits)
    : rank_(rank),
      limits_(limits),
      sessions_(store),
      mailbox_(store),
      shard_keys_(keys_of_slots()) {}

std::string_view LockService::shard_of(std::string_view name) const {
  return std::string_view(shard_keys_).substr(store::slot_of(name) * kKeyBytes, kKeyBytes);
}

Decision LockService::changed(std::string_view name, const ElementState* old, Step step,
                              bool in_place, Turn& turn, std::string& bytes) const {
  LockRecord record;
  if (old != nullptr) {
    record = decode(old->value);
  } else {
    record.last_token = first_token();  // S1
  }
  turn = {.now_ms = wall_ms(), .last_token = record.last_token};
  for (LockState& lock : record.locks) end_lapsed(lock, turn);
  step(lock_in(record, name), turn);
  if (!turn.changed) return {};
  std::erase_if(record.locks, [](const LockState& lock) { return lock.is_free(); });  // S2
  record.last_token = turn.last_token;
  encode(record, bytes);
  if (in_place && old != nullptr) bytes.resize(std::max(bytes.size(), old->value.size()), '\0');
  return Decision::write(bytes, store::kNoExpiry);
}

Status LockService::change(std::string_view name, ClientRef actor, Step step) {
  auto session = sessions_.take();
  if (!session.ok()) return session.status();
  Turn turn;
  std::string bytes;
  const auto attempt = [&](bool in_place) {
    const auto mutate = [&](const ElementState* old) {
      return changed(name, old, step, in_place, turn, bytes);
    };
    return (*session)->modify(shard_of(name), mutate);
  };
  Status status = attempt(false);
  // S3: a smaller record would be in a block of another size. If there is none, it stays in its
  // block, with zeros after it.
  if (status == Code::kOutOfSpace) status = attempt(true);
  if (status.ok()) wake_all(**session, turn, actor);
  return status;
}

Result<Standing> LockService::ask(std::string_view name, LockClaim claim, bool may_wait) {
  claim.who.rank = rank_;
  Standing standing;
  const auto step = [&](LockState& lock, Turn& turn) {
    standing = server::ask(lock, claim, may_wait, limits_.waiters, turn);
  };
  if (Status status = change(name, claim.who, step); !status.ok()) return status;
  return standing;
}

Result<Standing> LockService::look(std::string_view name, std::uint64_t client, bool give_up) {
  const ClientRef who{rank_, client};
  Standing standing;
  const auto step = [&](LockState& lock, Turn& turn) {
    standing = server::look(lock, who, give_up, turn);
  };
  if (Status status = change(name, who, step); !status.ok()) return status;
  return standing;
}

Result<TokenFit> LockService::release(std::string_view name, std::uint64_t token) {
  TokenFit fit{};
  const auto step = [&](LockState& lock, Turn& turn) {
    fit = fit_of(lock, server::release(lock, token, turn));
  };
  if (Status status = change(name, {}, step); !status.ok()) return status;
  return fit;
}

Result<TokenFit> LockService::renew(std::string_view name, std::uint64_t token,
                                    std::uint64_t lease_ms) {
  TokenFit fit{};
  const auto step = [&](LockState& lock, Turn& turn) {
    fit = fit_of(lock, server::renew(lock, token, lease_ms, turn));
  };
  if (Status status = change(name, {}, step); !status.ok()) return status;
  return fit;
}

Status LockService::leave(std::string_view name, std::uint64_t client) {
  const ClientRef who{rank_, client};
  const auto step = [&](LockState& lock, Turn& turn) { server::leave(lock, who, turn); };
  return change(name, who, step);
}

Result<LockService::Info> LockService::info(std::string_view name) {
  Info info;
  const auto step = [&](LockState& lock, Turn& turn) { info = {lock, turn.now_ms}; };
  if (Status status = change(name, {}, step); !status.ok()) return status;
  return info;
}

void LockService::expect_wake(std::uint64_t client, Waker& waker) {
  const MutexLock guard(mutex_);
  wakers_[client] = &waker;
  waiting_.store(wakers_.size(), std::memory_order_relaxed);
}

void LockService::expect_no_wake(std::uint64_t client) {
  const MutexLock guard(mutex_);
  wakers_.erase(client);
  waiting_.store(wakers_.size(), std::memory_order_relaxed);
}

void LockService::wake(std::uint64_t client) {
  const MutexLock guard(mutex_);
  const auto found = wakers_.find(client);
  if (found != wakers_.end()) found->second->wake(client);
}

void LockService::wake_all(Session& session, const Turn& turn, ClientRef actor) {
  for (const ClientRef& who : turn.wake) {
    if (who == actor) continue;
    if (who.rank == rank_) {
      wake(who.client);
    } else {
      static_cast<void>(mailbox_.send(session, who.rank, who.client));  // S4: it checks anyway
    }
  }
}

Result<bool> LockService::collect_mail() {
  auto session = sessions_.take();
  if (!session.ok()) return session.status();
  const auto wakes = mailbox_.collect(**session, rank_);
  if (!wakes.ok()) return wakes.status();
  for (const std::uint64_t client : wakes->clients) wake(client);
  if (!wakes->all_clients) return !wakes->clients.empty();
  const MutexLock guard(mutex_);
  for (const auto& [client, waker] : wakers_) waker->wake(client);
  return true;
}

}  // namespace keyway::server
