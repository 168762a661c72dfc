// The keys and values of a recorded history, as text.
//
// Keys of even number are short, and their values are stored inline; those of odd number are long,
// and their padded values lie in the heap. A value's text is a function of its number: put values
// are padded multiples of 1000, values after an increment are neither.
#pragma once

#include <fmt/core.h>

#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace keyway::test {

class HistoryTexts {
 public:
  /// `sizes`: values of all sizes, so that they change class and become runs.
  explicit HistoryTexts(bool sizes) : sizes_(sizes) {}

  static bool is_short(std::uint32_t key) { return key % 2 == 0; }
  static std::string key(std::uint32_t key) {
    return is_short(key) ? fmt::format("s{}", key) : fmt::format("{}{}", kLong, key);
  }
  /// The number of a key of any round; nothing for others.
  static std::optional<std::uint32_t> key_of(std::string_view text) {
    if (text.starts_with(kLong)) {
      text.remove_prefix(kLong.size());
    } else if (text.starts_with('s')) {
      text.remove_prefix(1);
    } else {
      return std::nullopt;
    }
    return number<std::uint32_t>(text);
  }
  std::string value(std::uint32_t key, std::int64_t value) const {
    if (is_short(key) || value % 1000 != 0) return std::to_string(value);
    constexpr int kWidths[] = {60, 700, 3, 5000, 60, 40'000, 200, 60};
    const auto made = static_cast<std::size_t>(value / 64'000);
    return fmt::format("{:0{}}", value, sizes_ ? kWidths[made % std::size(kWidths)] : 60);
  }
  /// The number of a value; nothing if it is none.
  static std::optional<std::int64_t> value_of(std::string_view text) {
    return number<std::int64_t>(text);
  }
  bool is_whole(std::uint32_t key, std::string_view text) const {
    const auto known = value_of(text);
    return known && text == value(key, *known);
  }

 private:
  static constexpr std::string_view kLong = "a long key of the history, ";

  template <class Number>
  static std::optional<Number> number(std::string_view text) {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
  }

  bool sizes_;
};

}  // namespace keyway::test
