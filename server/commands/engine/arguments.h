// The meaning of the words of a request: numbers, options, times to live.
//
// *Thread safety.* Functions of their arguments.
// *Source.* Redis 7.0: object.c (getLongLongFromObject), util.c (string2ld), t_string.c
// (parseExtendedStringArgumentsOrReply, getExpireMillisecondsOrReply).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "keyway/server/commands/engine/call.h"

namespace keyway::server {

/// The integer of the i-th word; if it is not one, replies with the error and returns nothing.
std::optional<std::int64_t> integer_or_error(const Call& call, std::size_t i,
                                             std::string_view error = kNoInteger);

/// A decimal as strtold reads one, without blanks around it; nothing if it is not a number.
std::optional<long double> parse_long_real(std::string_view text);
/// 17 digits after the point, zeros at their end left out: as Redis writes INCRBYFLOAT's result.
void format_long_real(long double value, std::string& out);

/// How a word counts time.
struct TimeUnit {
  bool seconds = false;   // else milliseconds
  bool absolute = false;  // since 1970 UTC; else from now
  bool operator==(const TimeUnit&) const = default;
};

/// The unit of EX, PX, EXAT and PXAT.
std::optional<TimeUnit> unit_of_option(std::string_view word);

/// The expiry that the i-th word sets, in ms since 1970; if Redis rejects such a time, replies with
/// the error and returns nothing. Positive.
std::optional<std::uint64_t> expiry_or_error(const Call& call, std::size_t i, TimeUnit unit);

/// Places in a string, both ends included.
struct Span {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t length() const { return last - first + 1; }
};

/// The range of two numbers, which count from the end if they are negative, in a string of `length`
/// places: cut at its ends; nothing if that is empty. BITPOS uses this.
std::optional<Span> span_of(std::int64_t first, std::int64_t last, std::int64_t length);

/// Whether both count from the end, and in the wrong order: to GETRANGE and BITCOUNT that is empty
/// even where cutting at the ends would leave the first place.
constexpr bool is_backwards(std::int64_t first, std::int64_t last) {
  return first < 0 && last < 0 && first > last;
}

}  // namespace keyway::server
