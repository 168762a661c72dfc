// Parses and formats numbers, sizes and times of URIs and options.
//
// *Thread safety.* Functions of their arguments.
#pragma once

#include <charconv>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace keyway {

/// The whole text as decimal digits; nothing if it is malformed or out of range.
template <class T>
std::optional<T> whole_number(std::string_view text) {
  T value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

/// "256MiB", "64KiB", "1GiB", "1048576".
inline std::optional<std::uint64_t> size_in_bytes(std::string_view text) {
  std::uint32_t shift = 0;
  if (text.ends_with("KiB")) shift = 10;
  if (text.ends_with("MiB")) shift = 20;
  if (text.ends_with("GiB")) shift = 30;
  if (shift != 0) text.remove_suffix(3);
  const auto value = whole_number<std::uint64_t>(text);
  if (!value || *value > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return *value << shift;
}

/// "250ms", "10s"; above 0 and at most a year.
inline std::optional<std::chrono::milliseconds> time_span(std::string_view text) {
  std::uint64_t factor = 1;
  if (text.ends_with("ms")) {
    text.remove_suffix(2);
  } else if (text.ends_with('s')) {
    factor = 1000;
    text.remove_suffix(1);
  } else {
    return std::nullopt;
  }
  constexpr std::uint64_t kLongestMs = 1000ULL * 3600 * 24 * 365;
  const auto value = whole_number<std::uint64_t>(text);
  if (!value || *value == 0 || *value > kLongestMs / factor) return std::nullopt;
  return std::chrono::milliseconds(*value * factor);
}

/// Sets the field to the value that was read, if there is one. Returns whether there is.
template <class T, class Read>
bool set_from(T& field, const std::optional<Read>& read) {
  if (read) field = *read;
  return read.has_value();
}

}  // namespace keyway
