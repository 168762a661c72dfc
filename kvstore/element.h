// An element in the heap: key and value in one piece, so that one bulk read fetches the whole.
//
//   bytes 0..3    checksum: low half of XXH3-64 over everything after it
//   bytes 4..7    bits 29..0 value length (512 MiB and less), bit 30 set: an expiry follows
//   bytes 8..9    key length - 1
//   bytes 10..11  version, raised by every rewrite of the element
//   [8 bytes      expiry, ms since 1970 UTC]
//   key, value
// Twelve bytes and not sixteen: with 16 B keys and 100 B values each byte here is 1% of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "keyway/kvstore/types.h"
#include "keyway/locks/base/check.h"

namespace keyway::store {

inline constexpr std::uint64_t kMaxKeyBytes = 64 * 1024;
inline constexpr std::uint64_t kMaxValueBytes = 512ULL * 1024 * 1024;
inline constexpr std::uint64_t kElementHeaderBytes = 12;
inline constexpr std::uint64_t kExpiryBytes = 8;

/// Bytes that an element takes in the heap.
constexpr std::uint64_t element_bytes(std::uint64_t key, std::uint64_t value, bool expires) {
  return kElementHeaderBytes + (expires ? kExpiryBytes : 0) + key + value;
}

/// The first bytes of an element, as they lie in memory.
struct ElementHeader {
  static constexpr std::uint32_t kExpiresFlag = 1u << 30;
  static constexpr std::uint32_t kLengthMask = kExpiresFlag - 1;

  std::uint32_t checksum;
  std::uint32_t length_and_flags;
  std::uint16_t key_bytes_minus_one;
  std::uint16_t version;

  /// From the first 12 of these bytes.
  static ElementHeader of(std::span<const std::byte> bytes) {
    ElementHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    return header;
  }
  std::uint64_t key_bytes() const { return key_bytes_minus_one + 1ULL; }
  std::uint64_t value_bytes() const { return length_and_flags & kLengthMask; }
  bool expires() const { return (length_and_flags & kExpiresFlag) != 0; }
  std::uint64_t total() const { return element_bytes(key_bytes(), value_bytes(), expires()); }
};
static_assert(sizeof(ElementHeader) == kElementHeaderBytes);
static_assert(kMaxValueBytes <= ElementHeader::kLengthMask && kMaxKeyBytes - 1 <= 0xffff);

/// An element as it lies in memory. Points into the bytes that it was parsed from.
struct ElementView {
  std::string_view key;
  std::string_view value;
  std::uint64_t expires_at_ms = kNoExpiry;
  std::uint16_t version = 0;
};

/// Bytes of the whole element, from its first 12.
inline std::uint64_t element_bytes_from_header(std::span<const std::byte> header) {
  return ElementHeader::of(header).total();
}
/// Lengths that overrun `bytes` are a broken invariant: the caller holds the stripe's lock.
inline ElementView parse_element(std::span<const std::byte> bytes) {
  const ElementHeader header = ElementHeader::of(bytes);
  KW_CHECK(header.total() <= bytes.size());
  ElementView view;
  const std::byte* at = bytes.data() + kElementHeaderBytes;
  if (header.expires()) {
    std::memcpy(&view.expires_at_ms, at, kExpiryBytes);
    at += kExpiryBytes;
  }
  view.key = {reinterpret_cast<const char*>(at), header.key_bytes()};
  view.value = {view.key.data() + view.key.size(), header.value_bytes()};
  view.version = header.version;
  return view;
}
/// Whether the checksum matches.
bool element_intact(std::span<const std::byte> bytes);
/// Writes an element to `out`, which has element_bytes() bytes. `value` may not overlap `out`.
void write_element(std::span<std::byte> out, std::string_view key, std::string_view value,
                   std::uint64_t expires_at_ms, std::uint16_t version);

}  // namespace keyway::store
