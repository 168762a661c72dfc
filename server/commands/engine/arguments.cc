#include "keyway/server/commands/engine/arguments.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "keyway/kvstore/resp/numbers.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/words.h"

namespace keyway::server {

std::optional<std::int64_t> integer_or_error(const Call& call, std::size_t i,
                                             std::string_view error) {
  const auto value = resp::parse_integer(call.word(i));
  if (!value) call.error(error);
  return value;
}

std::optional<long double> parse_long_real(std::string_view text) {
  std::array<char, 5 * 1024> digits;  // Redis: MAX_LONG_DOUBLE_CHARS
  if (text.empty() || text.size() >= digits.size()) return std::nullopt;
  std::memcpy(digits.data(), text.data(), text.size());
  digits[text.size()] = '\0';
  if (std::strchr(" \t\n\v\f\r", digits[0]) != nullptr) return std::nullopt;
  errno = 0;
  char* end = nullptr;
  const long double value = std::strtold(digits.data(), &end);
  if (end != digits.data() + text.size() || std::isnan(value)) return std::nullopt;
  const bool lost = std::isinf(value) || value == 0;
  if (errno == EINVAL || (errno == ERANGE && lost)) return std::nullopt;
  return value;
}

void format_long_real(long double value, std::string& out) {
  if (std::isinf(value)) {
    out = value > 0 ? "inf" : "-inf";
    return;
  }
  constexpr std::size_t kMax = std::numeric_limits<long double>::max_exponent10 + 32;
  out.resize(kMax);
  out.resize(static_cast<std::size_t>(std::snprintf(out.data(), kMax, "%.17Lf", value)));
  out.resize(out.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  if (out == "-0") out = "0";
}

std::optional<TimeUnit> unit_of_option(std::string_view word) {
  if (is_word(word, "ex")) return TimeUnit{.seconds = true};
  if (is_word(word, "px")) return TimeUnit{};
  if (is_word(word, "exat")) return TimeUnit{.seconds = true, .absolute = true};
  if (is_word(word, "pxat")) return TimeUnit{.absolute = true};
  return std::nullopt;
}

std::optional<std::uint64_t> expiry_or_error(const Call& call, std::size_t i, TimeUnit unit) {
  const auto given = integer_or_error(call, i);
  if (!given) return std::nullopt;
  std::int64_t when = *given;
  const auto base = static_cast<std::int64_t>(unit.absolute ? 0 : call.session.now_ms(call.key()));
  if (when <= 0 || (unit.seconds && __builtin_mul_overflow(when, 1000, &when)) ||
      __builtin_add_overflow(when, base, &when)) {
    call.invalid_expiry();
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(when);
}

std::optional<Span> span_of(std::int64_t first, std::int64_t last, std::int64_t length) {
  if (first < 0) first = std::max<std::int64_t>(first + length, 0);
  if (last < 0) last = std::max<std::int64_t>(last + length, 0);
  last = std::min(last, length - 1);
  if (first > last) return std::nullopt;
  return Span{first, last};
}

}  // namespace keyway::server
