#include "keyway/server/commands/locks/lock_wait.h"

#include <fmt/core.h>

#include <algorithm>
#include <new>

#include "keyway/locks/base/clock.h"

namespace keyway::server {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;

LockClaim claim_of(const Client& client, const LockWait& wait) {
  return {.who = {.rank = 0, .client = client.id},
          .mode = wait.mode,
          .token = 0,
          .lease_ms = wait.lease_ms,
          .at_ms = 0,
          .address = client.address};
}

/// Lapsed claims, as far as known here, make room. False if there is none.
bool has_room(ClientLocks& locks, std::size_t most) {
  if (locks.held.size() < most) return true;
  const std::uint64_t now = wall_ms();
  std::erase_if(locks.held, [&](const HeldLock& held) { return held.until_ms <= now; });
  return locks.held.size() < most;
}

/// When a waiting client checks its lock again without being woken.
std::uint64_t next_look_ns(const LockWait& wait, const Standing& standing) {
  if (standing.look_at_ms == 0) return wait.until_ns;
  const std::uint64_t now = wall_ms();
  const std::uint64_t left = standing.look_at_ms > now ? standing.look_at_ms - now : 0;
  return std::min(wait.until_ns, steady_ns() + left * kNsPerMs);
}

void granted(Client& client, const LockWait& wait, std::uint64_t token, resp::ReplyWriter& out) {
  std::erase_if(client.locks.held, [&](const HeldLock& held) { return held.name == wait.name; });
  client.locks.held.push_back({.name = wait.name,
                               .token = token,
                               .lease_ms = wait.lease_ms,
                               .until_ms = wall_ms() + wait.lease_ms});
  out.integer(static_cast<std::int64_t>(token));
}

std::string refusal(const LockWait& wait, const Standing& standing, const Service& service) {
  if (standing.kind == Standing::Kind::kTooMany) {
    return fmt::format("ERR too many clients are waiting for lock '{}' (limit {}, lock-waiters)",
                       wait.name, service.locks->limits().waiters);
  }
  return fmt::format("ERR this connection holds lock '{}' already, with token {}", wait.name,
                     standing.token);
}

/// The client no longer holds the lock or waits for it. If this cannot be done now, the lock
/// becomes free when its lease ends.
void take_back(Service& service, std::string_view name, std::uint64_t client) {
  try {
    static_cast<void>(service.locks->leave(name, client));
  } catch (const std::bad_alloc&) {  // E4
  }
}

/// The client waits no more. Returns what CLIENT UNBLOCK had made of its wait before.
BlockState end_block(Client& client) {
  if (!client.info) return BlockState::kNone;
  // relaxed, here and below: the word alone decides which event ends the wait.
  return client.info->block.exchange(BlockState::kNone, std::memory_order_relaxed);
}

void begin_block(Client& client) {
  if (!client.info) return;
  BlockState none = BlockState::kNone;
  client.info->block.compare_exchange_strong(none, BlockState::kWaits, std::memory_order_relaxed);
}

/// As by its timeout, or with an error; a lock that was granted meanwhile is released.
void answer_unblocked(Client& client, Service& service, BlockState how, resp::ReplyWriter& out) {
  take_back(service, client.locks.wait->name, client.id);
  if (how == BlockState::kTimedOut) return out.null();
  out.error("UNBLOCKED client unblocked via CLIENT UNBLOCK");
}

/// Answers, or notes when to check again. Returns which of both.
Outcome answer(Client& client, Service& service, const Result<Standing>& result,
               resp::ReplyWriter& out) {
  LockWait& wait = *client.locks.wait;
  if (result.ok() && result->kind == Standing::Kind::kWaiting) {
    wait.look_ns = next_look_ns(wait, *result);
    begin_block(client);
    return Outcome::kParked;
  }
  service.locks->expect_no_wake(client.id);
  const BlockState block = end_block(client);
  if (block == BlockState::kTimedOut || block == BlockState::kUnblocked) {
    answer_unblocked(client, service, block, out);
  } else if (!result.ok()) {
    take_back(service, wait.name, client.id);  // it may be in the queue
    reply_failed(out, result.status());
  } else if (result->kind == Standing::Kind::kGranted) {
    granted(client, wait, result->token, out);
  } else if (result->kind != Standing::Kind::kBusy) {
    out.error(refusal(wait, *result, service));
  } else if (service.locks->ending()) {
    out.error(
        fmt::format("ERR the server is shutting down: lock '{}' was not acquired", wait.name));
  } else {
    out.null();
  }
  client.locks.wait.reset();
  return Outcome::kReplied;
}

/// If a lease ended before its holder was notified, the lock is requested again, at the end of the
/// queue. A server that is ending grants no more locks: they would be lost with the connection.
Outcome look_again(Client& client, Service& service, resp::ReplyWriter& out) {
  const LockWait& wait = *client.locks.wait;
  const BlockState block =
      client.info ? client.info->block.load(std::memory_order_relaxed) : BlockState::kWaits;
  if (service.locks->ending() || block > BlockState::kWaits) {
    const Status left = service.locks->leave(wait.name, client.id);
    return answer(client, service, left.ok() ? Result<Standing>(Standing{}) : left, out);
  }
  const bool give_up = steady_ns() >= wait.until_ns;
  auto result = service.locks->look(wait.name, client.id, give_up);
  if (result.ok() && result->kind == Standing::Kind::kBusy && !give_up) {
    result = service.locks->ask(wait.name, claim_of(client, wait), true);
  }
  return answer(client, service, result, out);
}

}  // namespace

void begin_lock(const Call& call, const LockRequest& request) {
  Client& client = call.client;
  LockService& locks = *call.service.locks;
  if (!has_room(client.locks, locks.limits().held)) {
    return call.error(fmt::format("ERR this connection holds too many locks (limit {}, lock-held)",
                                  locks.limits().held));
  }
  client.locks.wait = LockWait{.name = std::string(request.name),
                               .mode = request.mode,
                               .lease_ms = request.lease_ms,
                               .until_ns = steady_ns() + request.timeout_ms * kNsPerMs};
  const bool may_wait = request.timeout_ms > 0 && client.locks.waker != nullptr && !locks.ending();
  if (may_wait) locks.expect_wake(client.id, *client.locks.waker);
  const auto result = locks.ask(request.name, claim_of(client, *client.locks.wait), may_wait);
  static_cast<void>(answer(client, call.service, result, call.out));
}

Outcome resume(Client& client, Service& service, resp::ReplyWriter& out) {
  const std::size_t mark = out.mark();
  Outcome outcome = Outcome::kReplied;
  try {
    outcome = look_again(client, service, out);
  } catch (const std::bad_alloc&) {  // E4
    stop_waiting(client, service);
    out.back_to(mark);
    out.error(kOutOfMemory);
  }
  if (outcome == Outcome::kParked) return outcome;
  count_error(client, out, mark);
  apply_reply_mode(client, out, mark);
  return outcome;
}

void stop_waiting(Client& client, Service& service) {
  if (!client.locks.wait) return;
  service.locks->expect_no_wake(client.id);
  take_back(service, client.locks.wait->name, client.id);
  end_block(client);
  client.locks.wait.reset();
}

void leave(Client& client, Service& service) {
  stop_waiting(client, service);
  for (const HeldLock& held : client.locks.held) take_back(service, held.name, client.id);
  client.locks.held.clear();
}

}  // namespace keyway::server
