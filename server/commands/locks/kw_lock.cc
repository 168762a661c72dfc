// KW.LOCK, KW.UNLOCK, KW.RENEW, KW.LOCKINFO, KW.HELP: named locks for clients.

#include <fmt/core.h>

#include <algorithm>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/words.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/table.h"
#include "keyway/server/commands/locks/lock_wait.h"

namespace keyway::server {
namespace {

/// Whether there are locks here, and the second word can be the name of one. False after an error.
bool names_lock(const Call& call) {
  if (call.service.locks == nullptr) {
    call.error("ERR named locks are disabled on this server");
    return false;
  }
  if (!call.key().empty() && call.key().size() <= kMaxNameBytes) return true;
  call.error(fmt::format("ERR the name of a lock has 1 to {} bytes", kMaxNameBytes));
  return false;
}

struct Option {
  std::string_view word;  // in lower case
  std::string_view name;
  std::uint64_t least = 0;
  std::uint64_t* value = nullptr;
};

/// The pairs of words from the i-th on. False after an error.
bool take_options(const Call& call, std::size_t i, std::initializer_list<Option> options) {
  const std::uint64_t longest = call.service.locks->limits().longest_ms;
  for (; i < call.count(); i += 2) {
    const auto option = std::find_if(options.begin(), options.end(), [&](const Option& known) {
      return is_word(call.word(i), known.word);
    });
    if (option == options.end() || i + 1 == call.count()) {
      call.error(kSyntaxError);
      return false;
    }
    const auto ms = integer_or_error(call, i + 1);
    if (!ms) return false;
    if (*ms < static_cast<std::int64_t>(option->least) ||
        *ms > static_cast<std::int64_t>(longest)) {
      call.error(
          fmt::format("ERR {} must be from {} to {} ms", option->name, option->least, longest));
      return false;
    }
    *option->value = static_cast<std::uint64_t>(*ms);
  }
  return true;
}

void reply_not_held(const Call& call, TokenFit fit, std::int64_t token) {
  call.error(fit == TokenFit::kNobodyHolds
                 ? fmt::format("ERR lock '{}' is not held", call.key())
                 : fmt::format("ERR lock '{}' is not held with token {}", call.key(), token));
}

void reply_claim(const Call& call, const LockClaim& claim, std::uint64_t now_ms, bool holds) {
  resp::ReplyWriter& out = call.out;
  const auto number = [&](std::string_view name, std::uint64_t value) {
    out.bulk(name);
    out.integer(static_cast<std::int64_t>(value));
  };
  out.map(holds ? 7 : 6);
  number("client", claim.who.client);
  number("rank", claim.who.rank);
  out.bulk("address");
  out.bulk(claim.address);
  out.bulk("mode");
  out.bulk(claim.mode == LockMode::kWrite ? "write" : "read");
  number("lease-ms", claim.lease_ms);
  if (holds) {
    number("token", claim.token);
    number("left-ms", claim.at_ms > now_ms ? claim.at_ms - now_ms : 0);
  } else {
    number("waited-ms", now_ms > claim.at_ms ? now_ms - claim.at_ms : 0);
  }
}

std::string_view mode_of(const LockState& lock) {
  if (lock.holders.empty()) return "free";
  return lock.holders.front().mode == LockMode::kWrite ? "write" : "read";
}

void run_kw_lock(const Call& call) {
  if (!names_lock(call)) return;
  const bool writes = is_word(call.word(2), "write");
  if (!writes && !is_word(call.word(2), "read")) {
    return call.error("ERR the mode of a lock is READ or WRITE");
  }
  LockRequest request{.name = call.key(), .mode = writes ? LockMode::kWrite : LockMode::kRead};
  request.timeout_ms = call.service.locks->limits().timeout_ms;
  request.lease_ms = call.service.locks->limits().lease_ms;
  if (!take_options(call, 3,
                    {{"timeout", "TIMEOUT", 0, &request.timeout_ms},
                     {"lease", "LEASE", 1, &request.lease_ms}})) {
    return;
  }
  begin_lock(call, request);
}

/// The token is proof enough, on any connection.
void run_kw_unlock(const Call& call) {
  if (!names_lock(call)) return;
  const auto token = integer_or_error(call, 2);
  if (!token) return;
  const auto fit = call.service.locks->release(call.key(), static_cast<std::uint64_t>(*token));
  if (!fit.ok()) return call.failed(fit.status());
  std::erase_if(call.client.locks.held, [&](const HeldLock& held) {
    return held.name == call.key() && held.token == static_cast<std::uint64_t>(*token);
  });
  if (*fit != TokenFit::kHolds) return reply_not_held(call, *fit, *token);
  call.ok();
}

void run_kw_renew(const Call& call) {
  if (!names_lock(call)) return;
  const auto token = integer_or_error(call, 2);
  if (!token) return;
  std::uint64_t lease_ms = 0;  // as it was
  if (!take_options(call, 3, {{"lease", "LEASE", 1, &lease_ms}})) return;
  const auto fit =
      call.service.locks->renew(call.key(), static_cast<std::uint64_t>(*token), lease_ms);
  if (!fit.ok()) return call.failed(fit.status());
  if (*fit != TokenFit::kHolds) return reply_not_held(call, *fit, *token);
  for (HeldLock& held : call.client.locks.held) {
    if (held.name != call.key() || held.token != static_cast<std::uint64_t>(*token)) continue;
    if (lease_ms != 0) held.lease_ms = lease_ms;
    held.until_ms = wall_ms() + held.lease_ms;
  }
  call.ok();
}

void run_kw_lockinfo(const Call& call) {
  if (!names_lock(call)) return;
  const auto info = call.service.locks->info(call.key());
  if (!info.ok()) return call.failed(info.status());
  call.out.map(3);
  call.out.bulk("mode");
  call.out.bulk(mode_of(info->lock));
  call.out.bulk("holders");
  call.out.array(info->lock.holders.size());
  for (const LockClaim& claim : info->lock.holders) reply_claim(call, claim, info->now_ms, true);
  call.out.bulk("waiters");
  call.out.array(info->lock.waiters.size());
  for (const LockClaim& claim : info->lock.waiters) reply_claim(call, claim, info->now_ms, false);
}

/// The commands that Redis has not.
void run_kw_help(const Call& call) {
  const auto commands = all_commands();
  const auto is_own = [](const Command& command) { return command.name.starts_with("kw."); };
  const auto own = std::count_if(commands.begin(), commands.end(), is_own);
  call.out.array(2 * static_cast<std::size_t>(own));
  for (const Command& command : commands) {
    if (!is_own(command)) continue;
    call.out.simple(fmt::format("{}{}{}", in_capitals(command.name),
                                command.arguments.empty() ? "" : " ", command.arguments));
    call.out.simple(fmt::format("    {}", command.summary));
  }
}

}  // namespace

CommandRows commands_of_locks_kw_lock() {
  static constexpr auto kRows = checked({
      {.name = "kw.lock",
       .arity = -3,
       .group = Group::kLocks,
       .flags = kNoScript | kBlocking | kNoMulti,
       .run = run_kw_lock,
       .keys = {1, 1, 1, kNotKey},
       .arguments = "name READ | WRITE [TIMEOUT ms] [LEASE ms]",
       .summary =
           "Acquires a lock for reading or writing, in FIFO order; returns the fencing token, "
           "or null after TIMEOUT (0: one attempt)."},
      {.name = "kw.unlock",
       .arity = 3,
       .group = Group::kLocks,
       .flags = kNoScript | kFast | kNoMulti,
       .run = run_kw_unlock,
       .keys = {1, 1, 1, kNotKey},
       .arguments = "name token",
       .summary = "Releases a lock."},
      {.name = "kw.renew",
       .arity = -3,
       .group = Group::kLocks,
       .flags = kNoScript | kFast | kNoMulti,
       .run = run_kw_renew,
       .keys = {1, 1, 1, kNotKey},
       .arguments = "name token [LEASE ms]",
       .summary = "Restarts the lease of a lock."},
      {.name = "kw.lockinfo",
       .arity = 2,
       .group = Group::kLocks,
       .flags = kNoScript | kNoMulti,
       .run = run_kw_lockinfo,
       .keys = {1, 1, 1, kNotKey},
       .tips = "nondeterministic_output",
       .arguments = "name",
       .summary = "Returns the holders of a lock and the number of waiting clients."},
      {.name = "kw.help",
       .arity = 1,
       .group = Group::kLocks,
       .flags = kLoading | kStale,
       .run = run_kw_help,
       .summary = "Lists the commands of Keyway that Redis does not have."},
  });
  return kRows;
}

}  // namespace keyway::server
