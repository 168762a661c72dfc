// An element in the heap: key and value in one piece, so that one bulk read fetches the whole.
//
//   bytes 0..7    checksum: the low 63 bits of the sum below, and bit 63 set: the element is marked
//   bytes 8..11   value length (512 MiB and less), and bit 30 set: room for an expiry follows
//   bytes 12..13  key length - 1
//   bytes 14..15  version, raised by every change of the element
//   bytes 16..19  stamp
//   [8 bytes      expiry, ms since 1970 UTC; 0: none]
//   key, value
// Twenty bytes and not twenty-four: with 16 B keys and 100 B values each byte here is 1% of memory.
// Elements that are written with more than kFineLimitBytes have room for an expiry, so that EXPIRE
// never moves a large value but one that has grown in its block.
//
// The stamp says which change of the bucket has put the element into its block (stamp_of()). It
// stays while the element is changed in place. With the mark, which the sum does not cover, it
// tells a reader without a lock whether the element is the committed one (K8 of session.h). The
// mark lies in the word of the checksum, so that a write whose words become visible one by one
// takes it away only together with the checksum of the old state: nobody accepts that state again.
// This leans on aligned words that become visible whole.
//
// The sum begins with a secret of the store (Geometry::sum_seed()): a reader without a lock may
// look at a block that by then holds a client's value, which must not pass for an element. Added to
// it are terms: one of bytes 8..15 and the expiry, one of the stamp, one of each 16 bytes of the
// key, one of each 16 bytes of the value (the last ones padded with zeros). A term depends on the
// place of its bytes, so bytes that change places change the sum. A change of bytes [a, b), or of
// the expiry, replaces their terms alone: its cost depends on the bytes that change, and not on the
// size of the value. A reader of the whole element still detects any mixture of two of its states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "keyway/kvstore/layout/element_sum.h"
#include "keyway/kvstore/layout/size_class.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/locks/base/check.h"

namespace keyway::store {

inline constexpr std::uint64_t kElementHeaderBytes = 20;
// From an element's first byte: the aligned word of checksum and mark, bytes 8..15, the stamp.
inline constexpr std::uint64_t kChecksumOffset = 0;
inline constexpr std::uint64_t kSizesOffset = 8;
inline constexpr std::uint64_t kStampOffset = 16;
inline constexpr std::uint64_t kExpiryBytes = 8;

/// Whether an element that is written as a whole gets room for an expiry.
constexpr bool has_expiry_room(std::uint64_t key, std::uint64_t value, bool expires) {
  return expires || kElementHeaderBytes + key + value > kFineLimitBytes;
}
/// Bytes of an element with or without that room.
constexpr std::uint64_t layout_bytes(std::uint64_t key, std::uint64_t value, bool expiry_room) {
  return kElementHeaderBytes + (expiry_room ? kExpiryBytes : 0) + key + value;
}
/// Bytes that an element takes in the heap when it is written as a whole.
constexpr std::uint64_t element_bytes(std::uint64_t key, std::uint64_t value, bool expires) {
  return layout_bytes(key, value, has_expiry_room(key, value, expires));
}

/// The first bytes of an element, as they lie in memory.
struct ElementHeader {
  static constexpr std::uint32_t kExpiryRoomFlag = 1u << 30;
  static constexpr std::uint32_t kLengthMask = ~kExpiryRoomFlag;
  static constexpr std::uint64_t kMark = 1ULL << 63;

  std::uint64_t checksum_and_mark;
  std::uint32_t length_and_flags;
  std::uint16_t key_bytes_minus_one;
  std::uint16_t version;
  std::uint32_t stamp;

  // Both by words: a processor waits where it loads bytes that were just stored piece by piece.
  /// From the first kElementHeaderBytes of these bytes.
  static ElementHeader of(std::span<const std::byte> bytes) {
    std::uint64_t second;
    ElementHeader header;
    std::memcpy(&header.checksum_and_mark, bytes.data() + kChecksumOffset,
                sizeof header.checksum_and_mark);
    std::memcpy(&second, bytes.data() + kSizesOffset, sizeof second);
    std::memcpy(&header.stamp, bytes.data() + kStampOffset, sizeof header.stamp);
    header.length_and_flags = static_cast<std::uint32_t>(second);
    header.key_bytes_minus_one = static_cast<std::uint16_t>(second >> 32);
    header.version = static_cast<std::uint16_t>(second >> 48);
    return header;
  }
  /// To the first kElementHeaderBytes of these bytes.
  void store(std::span<std::byte> bytes) const {
    const std::uint64_t second = sizes_and_version();
    std::memcpy(bytes.data() + kChecksumOffset, &checksum_and_mark, sizeof checksum_and_mark);
    std::memcpy(bytes.data() + kSizesOffset, &second, sizeof second);
    std::memcpy(bytes.data() + kStampOffset, &stamp, sizeof stamp);
  }
  /// Bytes 8..15, as one word.
  std::uint64_t sizes_and_version() const {
    return length_and_flags | static_cast<std::uint64_t>(key_bytes_minus_one) << 32 |
           static_cast<std::uint64_t>(version) << 48;
  }
  std::uint64_t checksum() const { return checksum_and_mark & ~kMark; }
  bool marked() const { return (checksum_and_mark & kMark) != 0; }
  std::uint64_t key_bytes() const { return key_bytes_minus_one + 1ULL; }
  std::uint64_t value_bytes() const { return length_and_flags & kLengthMask; }
  bool expiry_room() const { return (length_and_flags & kExpiryRoomFlag) != 0; }
  std::uint64_t total() const { return layout_bytes(key_bytes(), value_bytes(), expiry_room()); }
  /// The bytes of header, expiry and key.
  std::uint64_t head_bytes() const { return layout_bytes(key_bytes(), 0, expiry_room()); }
};
static_assert(kElementHeaderBytes == kStampOffset + sizeof(std::uint32_t));
static_assert(kMaxValueBytes < ElementHeader::kExpiryRoomFlag && kMaxKeyBytes - 1 <= 0xffff);

/// All of an element but its value. Points into the bytes that it was parsed from.
struct ElementHead {
  std::string_view key;
  std::uint64_t value_bytes = 0;
  std::uint64_t expires_at_ms = kNoExpiry;
  std::uint64_t checksum = 0;
  std::uint32_t stamp = 0;
  std::uint16_t version = 0;
  bool expiry_room = false;
  bool marked = false;

  bool expires() const { return expires_at_ms != kNoExpiry; }
  /// The value's place, counted from the element's first byte.
  std::uint64_t value_at() const { return layout_bytes(key.size(), 0, expiry_room); }
  std::uint64_t bytes() const { return value_at() + value_bytes; }
};

/// An element as it lies in memory. Points into the bytes that it was parsed from.
struct ElementView : ElementHead {
  std::string_view value;
};

/// Bytes of the whole element, from its first kElementHeaderBytes.
inline std::uint64_t element_bytes_from_header(std::span<const std::byte> header) {
  return ElementHeader::of(header).total();
}
/// Whether the element that begins with these bytes, up to its value if its key is as long as
/// `key`, has this key.
inline bool begins_with_key(std::span<const std::byte> bytes, std::string_view key) {
  const ElementHeader header = ElementHeader::of(bytes);
  if (header.key_bytes() != key.size()) return false;
  KW_CHECK(header.head_bytes() <= bytes.size());
  return std::memcmp(bytes.data() + layout_bytes(0, 0, header.expiry_room()), key.data(),
                     key.size()) == 0;
}
/// From an element's first bytes, at least up to its value. Lengths that overrun `bytes` are a
/// broken invariant: the caller holds the stripe's lock, or has looked at the header.
inline void parse_head(std::span<const std::byte> bytes, ElementHead& head) {
  const ElementHeader header = ElementHeader::of(bytes);
  KW_CHECK(header.head_bytes() <= bytes.size());
  const std::byte* at = bytes.data() + kElementHeaderBytes;
  head.expires_at_ms = kNoExpiry;
  if (header.expiry_room()) {
    std::memcpy(&head.expires_at_ms, at, kExpiryBytes);
    at += kExpiryBytes;
  }
  head.key = {reinterpret_cast<const char*>(at), header.key_bytes()};
  head.value_bytes = header.value_bytes();
  head.checksum = header.checksum();
  head.stamp = header.stamp;
  head.version = header.version;
  head.expiry_room = header.expiry_room();
  head.marked = header.marked();
}
inline ElementHead parse_head(std::span<const std::byte> bytes) {
  ElementHead head;
  parse_head(bytes, head);
  return head;
}
/// From all bytes of an element. As parse_head() otherwise.
inline ElementView parse_element(std::span<const std::byte> bytes) {
  ElementView view;
  parse_head(bytes, view);
  KW_CHECK(view.bytes() <= bytes.size());
  view.value = {view.key.data() + view.key.size(), view.value_bytes};
  return view;
}
/// Bytes of the header and the expiry.
constexpr std::uint64_t header_bytes(bool expiry_room) { return layout_bytes(0, 0, expiry_room); }
inline constexpr std::uint64_t kMaxHeaderBytes = header_bytes(true);
/// Whether the checksum matches.
bool element_intact(SumSeed seed, std::span<const std::byte> bytes);
/// The same of a value that does not lie behind its head.
bool element_intact(SumSeed seed, const ElementHead& head, std::string_view value);
/// The header that says this, without a mark.
ElementHeader header_of(const ElementHead& head);
/// The checksum's terms of header and expiry.
std::uint64_t header_term(const ElementHeader& header, std::uint64_t expires_at_ms);
/// The header of an element that is written as a whole, with its checksum.
ElementHeader header_for(SumSeed seed, std::string_view key, std::string_view value,
                         std::uint64_t expires_at_ms, std::uint16_t version, std::uint32_t stamp);
/// Writes header and expiry to an element's first bytes, of which there are header_bytes().
void write_header(std::span<std::byte> out, const ElementHeader& header,
                  std::uint64_t expires_at_ms);
/// Writes an element to `out`, which has element_bytes() bytes. `value` may not overlap `out`.
void write_element(SumSeed seed, std::span<std::byte> out, std::string_view key,
                   std::string_view value, std::uint64_t expires_at_ms, std::uint16_t version,
                   std::uint32_t stamp);

}  // namespace keyway::store
