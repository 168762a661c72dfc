// APPEND, GETRANGE (SUBSTR), SETRANGE.

#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

/// The new length that a write returned.
void reply_length(const Call& call, const Result<std::uint64_t>& length) {
  if (length.ok()) return call.out.integer(static_cast<std::int64_t>(*length));
  const bool too_long = length.code() == Code::kInvalidArgument && is_storable(call.key());
  if (too_long) return call.error(kTooLong);
  call.failed(length.status());
}

void run_append(const Call& call) {
  reply_length(call, call.session.append(call.key(), call.word(2)));
}

void run_getrange(const Call& call) {
  const auto first = integer_or_error(call, 2);
  if (!first) return;
  const auto last = integer_or_error(call, 3);
  if (!last) return;
  const auto range_of = [&](std::uint64_t bytes) -> ValueRange {
    if (is_backwards(*first, *last)) return {};
    const auto span = span_of(*first, *last, static_cast<std::int64_t>(bytes));
    if (!span) return {};
    return {static_cast<std::uint64_t>(span->first), static_cast<std::uint64_t>(span->length())};
  };
  const Status status = call.session.read_part(
      call.key(), range_of, [&](const ElementPart& part) { call.value(part.bytes); });
  if (!status.ok() && !is_absent(status)) return call.failed(status);
  call.looked_up(status.ok());
  if (!status.ok()) call.out.bulk("");
}

void run_setrange(const Call& call) {
  const auto offset = integer_or_error(call, 2);
  if (!offset) return;
  if (*offset < 0) return call.error("ERR offset is out of range");
  const std::string_view bytes = call.word(3);
  if (bytes.empty()) {  // nothing is written, nor is a key made
    const auto info = call.session.info(call.key());
    if (!info.ok() && !is_absent(info.status())) return call.failed(info.status());
    return call.out.integer(info.ok() ? static_cast<std::int64_t>(info->value_bytes) : 0);
  }
  reply_length(call,
               call.session.set_range(call.key(), static_cast<std::uint64_t>(*offset), bytes));
}

}  // namespace

CommandRows commands_of_strings_ranges() {
  static constexpr auto kRows = checked({
      {.name = "append",
       .arity = 3,
       .group = Group::kString,
       .flags = kWrite | kDenyOom | kFast,
       .run = run_append,
       .keys = {1, 1, 1, "RW insert"},
       .arguments = "key value",
       .summary = "Appends bytes to a value and returns its new length."},
      {.name = "getrange",
       .arity = 4,
       .group = Group::kString,
       .flags = kReadOnly,
       .run = run_getrange,
       .keys = {1, 1, 1, "RO access"},
       .arguments = "key start end",
       .summary = "Returns the bytes from start to end, both included; negative offsets count from "
                  "the end."},
      {.name = "substr",
       .arity = 4,
       .group = Group::kString,
       .flags = kReadOnly,
       .run = run_getrange,
       .keys = {1, 1, 1, "RO access"},
       .arguments = "key start end",
       .summary = "Returns a range of bytes; the old name of GETRANGE."},
      {.name = "setrange",
       .arity = 4,
       .group = Group::kString,
       .flags = kWrite | kDenyOom,
       .run = run_setrange,
       .keys = {1, 1, 1, "RW update"},
       .arguments = "key offset value",
       .summary = "Overwrites a value from an offset on; zero bytes fill a gap."},
  });
  return kRows;
}

}  // namespace keyway::server
