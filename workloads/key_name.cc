#include "keyway/workloads/key_name.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

namespace keyway::workloads {
namespace {

constexpr std::string_view kPrefix = "user";
constexpr std::uint32_t kDigitBits = 5;
constexpr std::uint32_t kMaxDigits = 12;  // 60 bits

std::uint32_t digits_of(const KeyStyle& style) {
  const auto prefix = static_cast<std::uint32_t>(kPrefix.size());
  return style.bytes > prefix ? std::min(style.bytes - prefix, kMaxDigits) : 0;
}

/// A bijection on [0, 2^bits): odd multiplications and xor-shifts are invertible there.
std::uint64_t scatter(std::uint64_t value, std::uint32_t bits) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  const std::uint32_t half = (bits + 1) / 2;
  for (const std::uint64_t odd :
       {0x9e3779b97f4a7c15ULL, 0xbf58476d1ce4e5b9ULL, 0x94d049bb133111ebULL}) {
    value = (value * odd) & mask;
    value ^= value >> half;
  }
  return value;
}

void append_decimal(std::string& out, std::uint64_t number, std::uint32_t least_digits) {
  char digits[20];
  const char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  const auto length = static_cast<std::uint32_t>(end - digits);
  if (length < least_digits) out.append(least_digits - length, '0');
  out.append(digits, length);
}

void append_base32(std::string& out, std::uint64_t number, std::uint32_t digits) {
  constexpr char kAlphabet[] = "0123456789abcdefghijklmnopqrstuv";
  for (std::uint32_t i = digits; i-- > 0;) {
    out += kAlphabet[(number >> (i * kDigitBits)) & 31];
  }
}

}  // namespace

std::uint64_t KeyStyle::capacity() const {
  if (bytes == 0) return std::numeric_limits<std::uint64_t>::max();
  if (!ordered) return std::uint64_t{1} << (digits_of(*this) * kDigitBits);
  const std::uint32_t digits = bytes - static_cast<std::uint32_t>(kPrefix.size());
  std::uint64_t count = 1;
  for (std::uint32_t i = 0; i < std::min(digits, 19U); ++i) count *= 10;
  return count;
}

std::uint32_t KeyStyle::typical_bytes() const {
  if (bytes != 0) return bytes;
  const std::uint32_t digits = ordered ? 8 : 19;
  return static_cast<std::uint32_t>(kPrefix.size()) + std::max(zero_padding, digits);
}

std::uint32_t KeyStyle::max_bytes() const {
  if (bytes != 0) return bytes;
  return static_cast<std::uint32_t>(kPrefix.size()) + std::max(zero_padding, 20U);
}

void append_key(std::string& out, std::uint64_t number, const KeyStyle& style) {
  out += kPrefix;
  if (style.bytes == 0) {
    append_decimal(out, style.ordered ? number : fnvhash64(number), style.zero_padding);
  } else if (style.ordered) {
    append_decimal(out, number, style.bytes - static_cast<std::uint32_t>(kPrefix.size()));
  } else {
    const std::uint32_t digits = digits_of(style);
    out.append(style.bytes - kPrefix.size() - digits, '0');
    append_base32(out, scatter(number, digits * kDigitBits), digits);
  }
}

std::string key_name(std::uint64_t number, const KeyStyle& style) {
  std::string name;
  append_key(name, number, style);
  return name;
}

}  // namespace keyway::workloads
