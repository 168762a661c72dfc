// APPEND, GETRANGE (SUBSTR), SETRANGE.

#include <algorithm>

#include "keyway/server/commands/arguments.h"
#include "keyway/server/commands/handlers.h"

namespace keyway::server {
namespace {

/// The new length that a write returned.
void reply_length(const Call& call, const Result<std::uint64_t>& length) {
  if (length.ok()) return call.out.integer(static_cast<std::int64_t>(*length));
  const bool too_long = length.code() == Code::kInvalidArgument && is_storable(call.key());
  if (too_long) return call.error(kTooLong);
  call.failed(length.status());
}

}  // namespace

void run_append(const Call& call) {
  reply_length(call, call.session.append(call.key(), call.word(2)));
}

void run_getrange(const Call& call) {
  const auto first = integer_or_error(call, 2);
  if (!first) return;
  const auto last = integer_or_error(call, 3);
  if (!last) return;
  std::string& value = call.client.value;
  if (*first >= 0 && *last >= 0) {  // what is not asked for need not be read
    const std::int64_t length = std::max<std::int64_t>(std::min(*last, kMostBytes) - *first + 1, 0);
    const Status status = call.session.get_range(call.key(), static_cast<std::uint64_t>(*first),
                                                 static_cast<std::uint64_t>(length), value);
    if (!status.ok() && !is_absent(status)) return call.failed(status);
    call.looked_up(status.ok());
    return call.value(status.ok() ? value : "");
  }
  const Status status = call.session.get(call.key(), value);
  if (!status.ok() && !is_absent(status)) return call.failed(status);
  call.looked_up(status.ok());
  if (!status.ok()) return call.out.bulk("");
  if (is_backwards(*first, *last)) return call.out.bulk("");
  const auto span = span_of(*first, *last, static_cast<std::int64_t>(value.size()));
  if (!span) return call.out.bulk("");
  call.value(std::string_view(value).substr(static_cast<std::size_t>(span->first),
                                            static_cast<std::size_t>(span->length())));
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

}  // namespace keyway::server
