// RENAME, RENAMENX, COPY: an element goes to another key in one step, and its expiry with it.

#include <limits>
#include <vector>

#include "keyway/locks/base/words.h"
#include "keyway/locks/fabric/time_slice.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

enum class Source : std::uint8_t { kStays, kGoes };
enum class Target : std::uint8_t { kMustBeAbsent, kMayBeThere };
enum class Moved : std::uint8_t { kDone, kNoSource, kTargetThere, kFailed };

/// From the first key to the second, which is another one. Replies with a failure of the store.
Moved move_or_error(const Call& call, Source source, Target target) {
  const std::string_view from = call.word(1);
  const std::string_view to = call.word(2);
  if (!is_storable(from)) return Moved::kNoSource;
  if (!is_storable(to)) {
    const auto there = call.session.info(from);
    if (is_absent(there.status())) return Moved::kNoSource;
    call.failed(call.session.put(to, {}));  // which says why not
    return Moved::kFailed;
  }
  Moved moved = Moved::kDone;
  const std::string_view keys[] = {from, to};
  const auto body = [&](std::span<ElementDraft> drafts) {
    moved = !drafts[0].there()                                     ? Moved::kNoSource
            : target == Target::kMustBeAbsent && drafts[1].there() ? Moved::kTargetThere
                                                                   : Moved::kDone;
    if (moved != Moved::kDone) return false;
    drafts[1].write(fabric::copy_in_parts(drafts[0]->value), drafts[0]->expires_at_ms);
    if (source == Source::kGoes) drafts[0].erase();
    return true;
  };
  const Status status = call.session.modify_all(keys, body);
  if (status.ok() || status == Code::kMismatch) return moved;
  call.failed(status);
  return Moved::kFailed;
}

void no_such_key(const Call& call) { call.error("ERR no such key"); }

/// RENAME of a key to itself only checks whether the key exists.
bool is_there_or_error(const Call& call) {
  const auto info = call.session.info(call.key());
  if (info.ok()) return true;
  if (is_absent(info.status())) {
    no_such_key(call);
  } else {
    call.failed(info.status());
  }
  return false;
}

struct CopyOptions {
  bool replaces = false;
};

/// There is one database, which DB may name.
std::optional<CopyOptions> copy_options_or_error(const Call& call) {
  CopyOptions options;
  for (std::size_t i = 3; i < call.count(); ++i) {
    if (is_word(call.word(i), "replace")) {
      options.replaces = true;
    } else if (is_word(call.word(i), "db") && i + 1 < call.count()) {
      const auto index = integer_or_error(call, ++i);
      if (!index) return std::nullopt;
      using Int = std::numeric_limits<int>;
      const bool is_int = *index >= Int::min() && *index <= Int::max();
      if (*index != 0) {
        call.error(is_int ? "ERR DB index is out of range"
                          : "ERR value is out of range, value must between -2147483648 and "
                            "2147483647");
        return std::nullopt;
      }
    } else {
      call.error(kSyntaxError);
      return std::nullopt;
    }
  }
  return options;
}

void run_rename(const Call& call) {
  if (call.word(1) == call.word(2)) {
    if (is_there_or_error(call)) call.ok();
    return;
  }
  const Moved moved = move_or_error(call, Source::kGoes, Target::kMayBeThere);
  if (moved == Moved::kNoSource) no_such_key(call);
  if (moved == Moved::kDone) call.ok();
}

void run_renamenx(const Call& call) {
  if (call.word(1) == call.word(2)) {
    if (is_there_or_error(call)) call.out.integer(0);
    return;
  }
  const Moved moved = move_or_error(call, Source::kGoes, Target::kMustBeAbsent);
  if (moved == Moved::kNoSource) return no_such_key(call);
  if (moved != Moved::kFailed) call.out.integer(moved == Moved::kDone ? 1 : 0);
}

void run_copy(const Call& call) {
  const auto options = copy_options_or_error(call);
  if (!options) return;
  if (call.word(1) == call.word(2)) {
    return call.error("ERR source and destination objects are the same");
  }
  const Moved moved = move_or_error(
      call, Source::kStays, options->replaces ? Target::kMayBeThere : Target::kMustBeAbsent);
  if (moved == Moved::kFailed) return;
  call.looked_up(moved != Moved::kNoSource);
  call.out.integer(moved == Moved::kDone ? 1 : 0);
}

}  // namespace

CommandRows commands_of_keys_rename() {
  static constexpr auto kRows = checked({
      {.name = "rename",
       .arity = 3,
       .group = Group::kGeneric,
       .flags = kWrite,
       .run = run_rename,
       .keys = {1, 2, 1, "RW access delete;OW update"},
       .arguments = "key newkey",
       .summary = "Renames a key and overwrites the destination."},
      {.name = "renamenx",
       .arity = 3,
       .group = Group::kGeneric,
       .flags = kWrite | kFast,
       .run = run_renamenx,
       .keys = {1, 2, 1, "RW access delete;OW insert"},
       .arguments = "key newkey",
       .summary = "Renames a key if the destination does not exist."},
      {.name = "copy",
       .arity = -3,
       .group = Group::kGeneric,
       .flags = kWrite | kDenyOom,
       .run = run_copy,
       .keys = {1, 2, 1, "RO access;OW update"},
       .arguments = "source destination [DB index] [REPLACE]",
       .summary = "Copies a value and its time to live to another key."},
  });
  return kRows;
}

}  // namespace keyway::server
