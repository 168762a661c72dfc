// EXPIRE, PEXPIRE, EXPIREAT, PEXPIREAT, TTL, PTTL, EXPIRETIME, PEXPIRETIME, PERSIST.

#include <fmt/core.h>

#include "keyway/locks/base/words.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

/// When an expiry may take another's place.
struct Conditions {
  bool absent = false;   // NX
  bool present = false;  // XX
  bool later = false;    // GT: none counts as never
  bool sooner = false;   // LT
};

std::optional<Conditions> conditions_or_error(const Call& call) {
  Conditions found;
  for (const std::string_view word : call.words.subspan(3)) {
    if (is_word(word, "nx")) {
      found.absent = true;
    } else if (is_word(word, "xx")) {
      found.present = true;
    } else if (is_word(word, "gt")) {
      found.later = true;
    } else if (is_word(word, "lt")) {
      found.sooner = true;
    } else {
      call.error(fmt::format("ERR Unsupported option {}", word));
      return std::nullopt;
    }
  }
  if (found.absent && (found.present || found.later || found.sooner)) {
    call.error("ERR NX and XX, GT or LT options at the same time are not compatible");
    return std::nullopt;
  }
  if (found.later && found.sooner) {
    call.error("ERR GT and LT options at the same time are not compatible");
    return std::nullopt;
  }
  return found;
}

bool allow(const Conditions& conditions, std::uint64_t current, std::int64_t when) {
  const bool expires = current != store::kNoExpiry;
  const auto old = static_cast<std::int64_t>(current);
  if (conditions.absent && expires) return false;
  if (conditions.present && !expires) return false;
  if (conditions.later && (!expires || when <= old)) return false;
  return !conditions.sooner || !expires || when < old;
}

/// The time of the second word in ms since 1970, which may be before that.
std::optional<std::int64_t> time_or_error(const Call& call, TimeUnit unit) {
  const auto given = integer_or_error(call, 2);
  if (!given) return std::nullopt;
  std::int64_t when = *given;
  const auto base = static_cast<std::int64_t>(unit.absolute ? 0 : call.session.now_ms(call.key()));
  if ((unit.seconds && __builtin_mul_overflow(when, 1000, &when)) ||
      __builtin_add_overflow(when, base, &when)) {
    call.invalid_expiry();
    return std::nullopt;
  }
  return when;
}

/// A time that has passed takes the key away.
void expire(const Call& call, TimeUnit unit) {
  const auto conditions = conditions_or_error(call);
  if (!conditions) return;
  const auto when = time_or_error(call, unit);
  if (!when) return;
  const bool past = *when <= static_cast<std::int64_t>(call.session.now_ms(call.key()));
  const auto decide = [&](const ElementPart* old) -> Decision {
    if (old == nullptr) return Decision::fail(Code::kNotFound);
    if (!allow(*conditions, old->expires_at_ms, *when)) return Decision::fail(Code::kMismatch);
    if (past) return Decision::erase();
    return Decision::expire(static_cast<std::uint64_t>(*when));
  };
  const Status status = call.session.modify_part(call.key(), ValueRange::none(), decide);
  const bool refused = status == Code::kMismatch || is_absent(status);
  if (!status.ok() && !refused) return call.failed(status);
  call.out.integer(status.ok() ? 1 : 0);
}

/// When the key expires, as `shown` says it.
template <class Shown>
void reply_expiry(const Call& call, Shown&& shown) {
  const auto info = call.session.info(call.key());
  if (!info.ok() && !is_absent(info.status())) return call.failed(info.status());
  call.looked_up(info.ok());
  if (!info.ok()) return call.out.integer(-2);
  if (info->expires_at_ms == store::kNoExpiry) return call.out.integer(-1);
  call.out.integer(static_cast<std::int64_t>(shown(*info)));
}

/// By the time at which the store found the key not yet expired.
std::uint64_t left_of(const ElementInfo& info) { return info.expires_at_ms - info.now_ms; }

std::uint64_t rounded_seconds(std::uint64_t ms) { return (ms + 500) / 1000; }

void run_expire(const Call& call) { expire(call, {.seconds = true}); }

void run_pexpire(const Call& call) { expire(call, {}); }

void run_expireat(const Call& call) { expire(call, {.seconds = true, .absolute = true}); }

void run_pexpireat(const Call& call) { expire(call, {.absolute = true}); }

void run_ttl(const Call& call) {
  reply_expiry(call, [](const ElementInfo& info) { return rounded_seconds(left_of(info)); });
}

void run_pttl(const Call& call) { reply_expiry(call, left_of); }

void run_expiretime(const Call& call) {
  reply_expiry(call, [](const ElementInfo& info) { return rounded_seconds(info.expires_at_ms); });
}

void run_pexpiretime(const Call& call) {
  reply_expiry(call, [](const ElementInfo& info) { return info.expires_at_ms; });
}

void run_persist(const Call& call) {
  const auto decide = [](const ElementPart* old) -> Decision {
    const bool expires = old != nullptr && old->expires_at_ms != store::kNoExpiry;
    return expires ? Decision::expire(store::kNoExpiry) : Decision::fail(Code::kNotFound);
  };
  const Status status = call.session.modify_part(call.key(), ValueRange::none(), decide);
  if (!status.ok() && !is_absent(status)) return call.failed(status);
  call.out.integer(status.ok() ? 1 : 0);
}

}  // namespace

CommandRows commands_of_keys_expiry() {
  static constexpr auto kRows = checked({
      {.name = "expire",
       .arity = -3,
       .group = Group::kGeneric,
       .flags = kWrite | kFast,
       .run = run_expire,
       .keys = {1, 1, 1, "RW update"},
       .arguments = "key s [NX | XX | GT | LT]",
       .summary = "Sets the time to live of a key in seconds."},
      {.name = "pexpire",
       .arity = -3,
       .group = Group::kGeneric,
       .flags = kWrite | kFast,
       .run = run_pexpire,
       .keys = {1, 1, 1, "RW update"},
       .arguments = "key ms [NX | XX | GT | LT]",
       .summary = "Sets the time to live of a key in milliseconds."},
      {.name = "expireat",
       .arity = -3,
       .group = Group::kGeneric,
       .flags = kWrite | kFast,
       .run = run_expireat,
       .keys = {1, 1, 1, "RW update"},
       .arguments = "key unix-s [NX | XX | GT | LT]",
       .summary = "Sets the expiry of a key, in seconds since 1970."},
      {.name = "pexpireat",
       .arity = -3,
       .group = Group::kGeneric,
       .flags = kWrite | kFast,
       .run = run_pexpireat,
       .keys = {1, 1, 1, "RW update"},
       .arguments = "key unix-ms [NX | XX | GT | LT]",
       .summary = "Sets the expiry of a key, in milliseconds since 1970."},
      {.name = "ttl",
       .arity = 2,
       .group = Group::kGeneric,
       .flags = kReadOnly | kFast,
       .run = run_ttl,
       .keys = {1, 1, 1, "RO access"},
       .tips = "nondeterministic_output",
       .arguments = "key",
       .summary = "Returns the time to live of a key in seconds; -1: none, -2: no such key."},
      {.name = "pttl",
       .arity = 2,
       .group = Group::kGeneric,
       .flags = kReadOnly | kFast,
       .run = run_pttl,
       .keys = {1, 1, 1, "RO access"},
       .tips = "nondeterministic_output",
       .arguments = "key",
       .summary = "Returns the time to live of a key in milliseconds; -1: none, -2: no such key."},
      {.name = "expiretime",
       .arity = 2,
       .group = Group::kGeneric,
       .flags = kReadOnly | kFast,
       .run = run_expiretime,
       .keys = {1, 1, 1, "RO access"},
       .arguments = "key",
       .summary = "Returns the expiry of a key, in seconds since 1970; -1: none, -2: no such key."},
      {.name = "pexpiretime",
       .arity = 2,
       .group = Group::kGeneric,
       .flags = kReadOnly | kFast,
       .run = run_pexpiretime,
       .keys = {1, 1, 1, "RO access"},
       .arguments = "key",
       .summary =
           "Returns the expiry of a key, in milliseconds since 1970; -1: none, -2: no such key."},
      {.name = "persist",
       .arity = 2,
       .group = Group::kGeneric,
       .flags = kWrite | kFast,
       .run = run_persist,
       .keys = {1, 1, 1, "RW update"},
       .arguments = "key",
       .summary = "Removes the expiry of a key."},
  });
  return kRows;
}

}  // namespace keyway::server
