// The key of record number n.
//
// YCSB's names are "user" and a decimal number, zero-padded: the record's number
// (insertorder=ordered) or its hash (hashed). With a fixed length in bytes, which
// YCSB does not have, the number is mixed by a bijection and written in base 32,
// so that names are scattered and never collide.
#pragma once

#include <cstdint>
#include <string>

namespace keyway::workloads {

/// YCSB's 64-bit FNV hash with the sign taken off.
constexpr std::uint64_t fnvhash64(std::uint64_t value) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  // Signed, as in YCSB: the shift of a negative number keeps its sign.
  auto rest = static_cast<std::int64_t>(value);
  for (int i = 0; i < 8; ++i) {
    hash ^= static_cast<std::uint64_t>(rest & 0xff);
    rest >>= 8;
    hash *= 1099511628211ULL;
  }
  const auto sign = static_cast<std::int64_t>(hash);
  return sign < 0 ? 0 - hash : hash;
}

/// How names are made. Value type.
struct KeyStyle {
  bool ordered = false;            // insertorder=ordered
  std::uint32_t zero_padding = 1;  // least number of digits
  std::uint32_t bytes = 0;         // the exact length of every name; 0 means YCSB's names

  /// How many records can have distinct names; the largest number if there is no bound.
  std::uint64_t capacity() const;
  /// The length of nearly every name in bytes: those of many records differ by a digit or two.
  std::uint32_t typical_bytes() const;
  /// The longest name in bytes.
  std::uint32_t max_bytes() const;
};

/// Appends the name of record `number` to `out`. number < style.capacity().
void append_key(std::string& out, std::uint64_t number, const KeyStyle& style);
/// The name of record `number`.
std::string key_name(std::uint64_t number, const KeyStyle& style);

}  // namespace keyway::workloads
