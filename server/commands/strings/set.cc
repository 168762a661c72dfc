// SET, SETNX, SETEX, PSETEX.

#include <algorithm>

#include "keyway/locks/base/words.h"
#include "keyway/locks/fabric/time_slice.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

struct SetOptions {
  PutIf when = PutIf::kAlways;
  bool gets = false;
  bool keeps_expiry = false;
  std::optional<TimeUnit> unit;
  std::size_t time_at = 0;                     // the word that says how many
  std::optional<std::string_view> if_equal{};  // not in Redis 7: IFEQ, as Valkey has it
};

/// Takes one option that begins at `i`, and leaves `i` at its last word. False if it is not an
/// option, or excludes an earlier one.
bool take_option(const Call& call, std::size_t& i, SetOptions& options) {
  const std::string_view word = call.word(i);
  const bool last = i + 1 == call.count();
  if (is_word(word, "nx") && options.when != PutIf::kPresent && !options.if_equal) {
    options.when = PutIf::kAbsent;
  } else if (is_word(word, "xx") && options.when != PutIf::kAbsent && !options.if_equal) {
    options.when = PutIf::kPresent;
  } else if (is_word(word, "get")) {
    options.gets = true;
  } else if (is_word(word, "keepttl") && !options.unit) {
    options.keeps_expiry = true;
  } else if (is_word(word, "ifeq") && !last && options.when == PutIf::kAlways) {
    options.if_equal = call.word(++i);
  } else if (const auto unit = unit_of_option(word);
             unit && !last && !options.keeps_expiry && unit == options.unit.value_or(*unit)) {
    options.unit = unit;
    options.time_at = ++i;
  } else {
    return false;
  }
  return true;
}

/// Whether the options allow to set a key with this value, or a missing key.
bool allows(const SetOptions& options, const ElementState* old) {
  if (options.if_equal) return old != nullptr && old->value == *options.if_equal;
  if (options.when == PutIf::kAbsent) return old == nullptr;
  return options.when != PutIf::kPresent || old != nullptr;
}

/// With GET the reply is the old value, whether the key was set or not.
void set_with_look(const Call& call, const SetOptions& options, std::uint64_t expires_at_ms) {
  bool there = false;
  const Status status = call.session.modify(call.key(), [&](const ElementState* old) -> Decision {
    there = old != nullptr;
    if (there && options.gets) fabric::assign_in_parts(call.session.value(), old->value);
    if (!allows(options, old)) return Decision::fail(Code::kMismatch);
    const bool keeps = options.keeps_expiry && there;
    return Decision::write(call.word(2), keeps ? old->expires_at_ms : expires_at_ms);
  });
  if (!status.ok() && status.code() != Code::kMismatch) return call.failed(status);
  if (options.gets) call.looked_up(there);
  if (options.gets && there) return call.value(call.session.value());
  if (options.gets || !status.ok()) return call.out.null();
  call.ok();
}

void set_for(const Call& call, TimeUnit unit) {
  const auto when = expiry_or_error(call, 2, unit);
  if (!when) return;
  const Status status = call.session.put(call.key(), call.word(3), {.expires_at_ms = *when});
  if (!status.ok()) return call.failed(status);
  call.ok();
}

[[gnu::hot]] void run_set(const Call& call) {
  SetOptions options;
  for (std::size_t i = 3; i < call.count(); ++i) {
    if (!take_option(call, i, options)) return call.error(kSyntaxError);
  }
  PutOptions put{.when = options.when, .keep_expiry = options.keeps_expiry};
  if (options.unit) {
    const auto when = expiry_or_error(call, options.time_at, *options.unit);
    if (!when) return;
    put.expires_at_ms = *when;
  }
  if (options.gets || options.if_equal) return set_with_look(call, options, put.expires_at_ms);
  const Status status = call.session.put(call.key(), call.word(2), put);
  if (status == Code::kExists || status == Code::kNotFound) return call.out.null();
  if (!status.ok()) return call.failed(status);
  call.ok();
}

void run_setnx(const Call& call) {
  const Status status = call.session.insert(call.key(), call.word(2));
  if (!status.ok() && status.code() != Code::kExists) return call.failed(status);
  call.out.integer(status.ok() ? 1 : 0);
}

void run_setex(const Call& call) { set_for(call, {.seconds = true}); }

void run_psetex(const Call& call) { set_for(call, {}); }

/// A SET reads its key only if an option says so.
std::string_view access_by_set(std::span<const std::string_view> words) {
  const auto options = words.subspan(3);
  const bool gets = std::any_of(options.begin(), options.end(),
                                [](std::string_view word) { return is_word(word, "get"); });
  return gets ? "RW access update" : "OW update";
}

}  // namespace

CommandRows commands_of_strings_set() {
  static constexpr auto kRows = checked({
      {.name = "set",
       .arity = -3,
       .group = Group::kString,
       .flags = kWrite | kDenyOom,
       .run = run_set,
       .keys = {1, 1, 1, "RW access update variable_flags",
                "RW and ACCESS due to the optional `GET` argument"},
       .arguments = "key value [NX | XX | IFEQ expected] [GET] [EX s | PX ms | EXAT unix-s | PXAT "
                    "unix-ms | KEEPTTL]",
       .summary = "Sets a value, with an optional condition and an optional time to live.",
       .access_by = access_by_set},
      {.name = "setnx",
       .arity = 3,
       .group = Group::kString,
       .flags = kWrite | kDenyOom | kFast,
       .run = run_setnx,
       .keys = {1, 1, 1, "OW insert"},
       .arguments = "key value",
       .summary = "Sets a value if the key does not exist."},
      {.name = "setex",
       .arity = 4,
       .group = Group::kString,
       .flags = kWrite | kDenyOom,
       .run = run_setex,
       .keys = {1, 1, 1, "OW update"},
       .arguments = "key s value",
       .summary = "Sets a value with a time to live in seconds."},
      {.name = "psetex",
       .arity = 4,
       .group = Group::kString,
       .flags = kWrite | kDenyOom,
       .run = run_psetex,
       .keys = {1, 1, 1, "OW update"},
       .arguments = "key ms value",
       .summary = "Sets a value with a time to live in milliseconds."},
  });
  return kRows;
}

}  // namespace keyway::server
