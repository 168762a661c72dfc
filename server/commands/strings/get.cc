// GET, GETDEL, GETEX, GETSET, STRLEN.

#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/words.h"
#include "keyway/locks/fabric/time_slice.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

/// The reply of what modified a key and left its old value in session.value().
void reply_old(const Call& call, const Status& status) {
  if (!status.ok() && !is_absent(status)) return call.failed(status);
  call.looked_up(status.ok());
  if (!status.ok()) return call.out.null();
  call.value(call.session.value());
}

struct ExpiryOptions {
  bool persists = false;
  std::optional<TimeUnit> unit;
  std::size_t time_at = 0;  // the word that says how many
};

/// The words from `first` on: one kind of time, which may be repeated, or PERSIST. Nothing when
/// they are not that.
std::optional<ExpiryOptions> expiry_options(const Call& call, std::size_t first) {
  ExpiryOptions options;
  for (std::size_t i = first; i < call.count(); ++i) {
    const auto unit = unit_of_option(call.word(i));
    if (unit && i + 1 < call.count() && !options.persists && unit == options.unit.value_or(*unit)) {
      options.unit = unit;
      options.time_at = ++i;
    } else if (is_word(call.word(i), "persist") && !options.unit) {
      options.persists = true;
    } else {
      return std::nullopt;
    }
  }
  return options;
}

[[gnu::hot]] void run_get(const Call& call) {
  const Status status = call.session.read(
      call.key(), [&](const ElementState& element) { call.value(element.value); });
  if (status.ok()) return call.looked_up(true);
  if (!is_absent(status)) return call.failed(status);
  call.looked_up(false);
  call.out.null();
}

void run_getdel(const Call& call) {
  reply_old(call, call.session.modify(call.key(), [&](const ElementState* old) -> Decision {
    if (old == nullptr) return Decision::fail(Code::kNotFound);
    fabric::assign_in_parts(call.session.value(), old->value);
    return Decision::erase();
  }));
}

/// The old value, and another time to live for it.
void run_getex(const Call& call) {
  const auto options = expiry_options(call, 2);
  if (!options) return call.error(kSyntaxError);
  if (!options->unit && !options->persists) return run_get(call);
  std::uint64_t expires_at_ms = store::kNoExpiry;
  if (options->unit) {
    // Redis reads the time only if the key exists.
    if (auto there = call.session.info(call.key()); !there.ok()) {
      return reply_old(call, there.status());
    }
    const auto when = expiry_or_error(call, options->time_at, *options->unit);
    if (!when) return call.looked_up(true);
    expires_at_ms = *when;
  }
  const bool past = options->unit && expires_at_ms <= call.session.now_ms(call.key());
  reply_old(call, call.session.modify(call.key(), [&](const ElementState* old) -> Decision {
    if (old == nullptr) return Decision::fail(Code::kNotFound);
    fabric::assign_in_parts(call.session.value(), old->value);
    if (past) return Decision::erase();
    if (old->expires_at_ms == expires_at_ms) return {};
    return Decision::expire(expires_at_ms);
  }));
}

void run_getset(const Call& call) {
  bool there = false;
  const Status status = call.session.modify(call.key(), [&](const ElementState* old) {
    there = old != nullptr;
    if (there) fabric::assign_in_parts(call.session.value(), old->value);
    return Decision::write(call.word(2), store::kNoExpiry);
  });
  if (!status.ok()) return call.failed(status);
  call.looked_up(there);
  if (!there) return call.out.null();
  call.value(call.session.value());
}

void run_strlen(const Call& call) {
  const auto info = call.session.info(call.key());
  if (!info.ok() && !is_absent(info.status())) return call.failed(info.status());
  call.looked_up(info.ok());
  call.out.integer(info.ok() ? static_cast<std::int64_t>(info->value_bytes) : 0);
}

}  // namespace

CommandRows commands_of_strings_get() {
  static constexpr auto kRows = checked({
      {.name = "get",
       .arity = 2,
       .group = Group::kString,
       .flags = kReadOnly | kFast,
       .run = run_get,
       .keys = {1, 1, 1, "RO access"},
       .arguments = "key",
       .summary = "Returns the value of a key, or nil."},
      {.name = "getset",
       .arity = 3,
       .group = Group::kString,
       .flags = kWrite | kShowsOld | kDenyOom | kFast,
       .run = run_getset,
       .keys = {1, 1, 1, "RW access update"},
       .arguments = "key value",
       .summary = "Sets a value and returns the old one."},
      {.name = "getdel",
       .arity = 2,
       .group = Group::kString,
       .flags = kWrite | kShowsOld | kFast,
       .run = run_getdel,
       .keys = {1, 1, 1, "RW access delete"},
       .arguments = "key",
       .summary = "Returns the value of a key and deletes the key, atomically."},
      {.name = "getex",
       .arity = -2,
       .group = Group::kString,
       .flags = kWrite | kShowsOld | kFast,
       .run = run_getex,
       .keys = {1, 1, 1, "RW access update", "RW and UPDATE because it changes the TTL"},
       .arguments = "key [EX s | PX ms | EXAT unix-s | PXAT unix-ms | PERSIST]",
       .summary = "Returns the value of a key and changes its time to live, atomically."},
      {.name = "strlen",
       .arity = 2,
       .group = Group::kString,
       .flags = kReadOnly | kFast,
       .run = run_strlen,
       .keys = {1, 1, 1, "RO"},
       .arguments = "key",
       .summary = "Returns the length of a value in bytes."},
  });
  return kRows;
}

}  // namespace keyway::server
