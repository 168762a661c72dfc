#include "keyway/kvstore/resp/numbers.h"

#include <charconv>
#include <limits>

namespace keyway::resp {

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  const bool zero = text == "0";
  if (digits.empty() || (digits[0] == '0' && !zero)) return std::nullopt;
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

std::optional<double> parse_real(std::string_view text) {
  using Limits = std::numeric_limits<double>;
  if (text == "inf") return Limits::infinity();
  if (text == "-inf") return -Limits::infinity();
  if (text == "nan") return Limits::quiet_NaN();
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  // from_chars also reads "infinity" and the like.
  if (first == text.size() || text[first] < '0' || text[first] > '9') return std::nullopt;
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

}  // namespace keyway::resp
