// An element in the heap: key and value in one piece, so that one bulk read fetches the whole.
//
// A bare element:
//   bytes 0..3    value length (512 MiB and less); bit 30 set: room for an expiry follows; bit 31
//                 set: the element is marked
//   bytes 4..5    key length - 1
//   bytes 6..7    version, raised by every change of the element
//   [8 bytes      expiry, ms since 1970 UTC; 0: none]
//   key, value
// An element with a proof, in a store that sessions read without reaching its memory directly:
//   bytes 0..7    checksum: the low 63 bits of the sum below, and bit 63 set: the element is marked
//   bytes 8..15   lengths and version, as bytes 0..7 above, but for the mark
//   bytes 16..19  stamp
//   and so on, as above
// Eight or twenty bytes and no padding: with 16 B keys and 100 B values each byte here is 1% of
// memory. Elements that are written with more than kFineLimitBytes have room for an expiry, so that
// EXPIRE never moves a large value but one that has grown in its block.
//
// The mark lies in the first word of an element, which is written last: it says that the element is
// being changed, or has left its block (K8 and K9 of session.h). The stamp says which change of the
// bucket has put the element into its block (stamp_of()). It stays while the element is changed in
// place. With the mark, which the sum does not cover, it tells a reader without a lock on another
// node whether the element is the committed one (K8). There the mark lies in the word of the
// checksum: a write may become visible word by word, and takes the mark away only together with
// the checksum of the old state, so nobody accepts that state again. This leans on aligned words
// that become visible whole.
//
// The sum begins with a secret of the store (ElementFormat::seed): a reader without a lock may look
// at a block that by then holds a client's value, which must not pass for an element. Added to it
// are terms: one of bytes 8..15 and the expiry, one of the stamp, one of each 16 bytes of the key,
// one of each 16 bytes of the value (the last ones padded with zeros). A term depends on the place
// of its bytes, so bytes that change places change the sum. A change of bytes [a, b), or of the
// expiry, replaces their terms alone: its cost depends on the bytes that change, and not on the
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

inline constexpr std::uint64_t kExpiryBytes = 8;

/// How all elements of a store lie in memory.
struct ElementFormat {
  static constexpr std::uint64_t kBareBytes = 8;
  static constexpr std::uint64_t kProvenBytes = 20;

  bool proof = true;
  SumSeed seed{};  // for checksums, if they have a proof

  /// Bytes before the expiry, or the key.
  constexpr std::uint64_t header_bytes() const { return proof ? kProvenBytes : kBareBytes; }
  /// Whether an element that is written as a whole gets room for an expiry.
  constexpr bool has_expiry_room(std::uint64_t key, std::uint64_t value, bool expires) const {
    return expires || header_bytes() + key + value > kFineLimitBytes;
  }
  /// Bytes of an element with or without that room.
  constexpr std::uint64_t bytes_with(std::uint64_t key, std::uint64_t value,
                                     bool expiry_room) const {
    return header_bytes() + (expiry_room ? kExpiryBytes : 0) + key + value;
  }
  /// Bytes that an element takes in the heap when it is written as a whole.
  constexpr std::uint64_t bytes_of(std::uint64_t key, std::uint64_t value, bool expires) const {
    return bytes_with(key, value, has_expiry_room(key, value, expires));
  }
  /// The mark, in an element's first word.
  constexpr std::uint64_t mark() const { return 1ULL << (proof ? 63 : 31); }
};
/// The most bytes of a header and an expiry.
inline constexpr std::uint64_t kMaxHeaderBytes = ElementFormat::kProvenBytes + kExpiryBytes;

/// The first bytes of an element.
struct ElementHeader {
  static constexpr std::uint64_t kExpiryRoomFlag = 1ULL << 30;
  static constexpr std::uint64_t kLengthMask = kExpiryRoomFlag - 1;
  static constexpr std::uint64_t kBareMark = ElementFormat{.proof = false}.mark();

  // As they lie in memory. A bare element begins with the word of sizes.
  std::uint64_t checksum_and_mark = 0;
  std::uint64_t sizes = 0;
  std::uint32_t stamp = 0;
  bool proof = true;

  // Both by words: a processor waits where it loads bytes that were just stored piece by piece.
  /// From the first format.header_bytes() of these bytes.
  static ElementHeader of(const ElementFormat& format, std::span<const std::byte> bytes) {
    ElementHeader header{.proof = format.proof};
    std::memcpy(&header.sizes, bytes.data() + (format.proof ? kSizesOffset : 0),
                sizeof header.sizes);
    if (format.proof) {
      std::memcpy(&header.checksum_and_mark, bytes.data(), sizeof header.checksum_and_mark);
      std::memcpy(&header.stamp, bytes.data() + kStampOffset, sizeof header.stamp);
    }
    return header;
  }
  /// To the first format.header_bytes() of these bytes.
  void store(std::span<std::byte> bytes) const {
    const std::uint64_t first = first_word();
    std::memcpy(bytes.data(), &first, sizeof first);
    if (!proof) return;
    std::memcpy(bytes.data() + kSizesOffset, &sizes, sizeof sizes);
    std::memcpy(bytes.data() + kStampOffset, &stamp, sizeof stamp);
  }
  static constexpr std::uint64_t sizes_of(std::uint64_t key_bytes, std::uint64_t value_bytes,
                                          bool expiry_room, std::uint16_t version) {
    return value_bytes | (expiry_room ? kExpiryRoomFlag : 0) | (key_bytes - 1) << 32 |
           static_cast<std::uint64_t>(version) << 48;
  }
  ElementFormat format() const { return {.proof = proof}; }
  std::uint64_t first_word() const { return proof ? checksum_and_mark : sizes; }
  std::uint64_t checksum() const { return checksum_and_mark & ~format().mark(); }
  bool marked() const { return (first_word() & format().mark()) != 0; }
  std::uint64_t value_bytes() const {
    // Bit 31 means nothing in an element with a proof: a length that overruns the block.
    return sizes & (proof ? kLengthMask | kBareMark : kLengthMask);
  }
  bool expiry_room() const { return (sizes & kExpiryRoomFlag) != 0; }
  std::uint64_t key_bytes() const { return (sizes >> 32 & 0xffff) + 1; }
  std::uint16_t version() const { return static_cast<std::uint16_t>(sizes >> 48); }
  std::uint64_t total() const {
    return format().bytes_with(key_bytes(), value_bytes(), expiry_room());
  }
  /// The bytes of header, expiry and key.
  std::uint64_t head_bytes() const { return format().bytes_with(key_bytes(), 0, expiry_room()); }
  /// The bytes of header and expiry.
  std::uint64_t key_at() const { return format().bytes_with(0, 0, expiry_room()); }

 private:
  static constexpr std::uint64_t kSizesOffset = 8;
  static constexpr std::uint64_t kStampOffset = 16;
  static_assert(ElementFormat::kProvenBytes == kStampOffset + sizeof stamp);
};
static_assert(kMaxValueBytes <= ElementHeader::kLengthMask && kMaxKeyBytes - 1 <= 0xffff);
/// All of an element but its value. Points into the bytes that it was parsed from.
struct ElementHead {
  std::string_view key;
  std::uint64_t value_bytes = 0;
  std::uint64_t expires_at_ms = kNoExpiry;
  std::uint64_t checksum = 0;  // 0 without a proof, and so the stamp
  std::uint32_t stamp = 0;
  std::uint16_t version = 0;
  bool expiry_room : 1 = false;
  bool marked : 1 = false;
  bool proof : 1 = true;

  bool expires() const { return expires_at_ms != kNoExpiry; }
  /// The bytes of header and expiry.
  std::uint64_t key_at() const {
    return ElementFormat{.proof = proof}.bytes_with(0, 0, expiry_room);
  }
  /// The value's place, counted from the element's first byte.
  std::uint64_t value_at() const { return key_at() + key.size(); }
  std::uint64_t bytes() const { return value_at() + value_bytes; }
};

/// An element as it lies in memory. Points into the bytes that it was parsed from.
struct ElementView : ElementHead {
  std::string_view value;
};

/// Whether the element that begins with these bytes, up to its value if its key is as long as
/// `key`, has this key.
inline bool begins_with_key(const ElementFormat& format, std::span<const std::byte> bytes,
                            std::string_view key) {
  const auto header = ElementHeader::of(format, bytes);
  if (header.key_bytes() != key.size()) return false;
  KW_CHECK(header.head_bytes() <= bytes.size());
  return std::memcmp(bytes.data() + header.key_at(), key.data(), key.size()) == 0;
}
/// From an element's first bytes, at least up to its value. Lengths that overrun `bytes` are a
/// broken invariant: the caller holds the stripe's lock, or has looked at the header.
inline void parse_head(const ElementFormat& format, std::span<const std::byte> bytes,
                       ElementHead& head) {
  const auto header = ElementHeader::of(format, bytes);
  KW_CHECK(header.head_bytes() <= bytes.size());
  const std::byte* at = bytes.data() + format.header_bytes();
  head.expires_at_ms = kNoExpiry;
  if (header.expiry_room()) {
    std::memcpy(&head.expires_at_ms, at, kExpiryBytes);
    at += kExpiryBytes;
  }
  head.key = {reinterpret_cast<const char*>(at), header.key_bytes()};
  head.value_bytes = header.value_bytes();
  head.checksum = header.checksum();
  head.stamp = header.stamp;
  head.version = header.version();
  head.expiry_room = header.expiry_room();
  head.marked = header.marked();
  head.proof = header.proof;
}
inline ElementHead parse_head(const ElementFormat& format, std::span<const std::byte> bytes) {
  ElementHead head;
  parse_head(format, bytes, head);
  return head;
}
/// From all bytes of an element. As parse_head() otherwise.
inline ElementView parse_element(const ElementFormat& format, std::span<const std::byte> bytes) {
  ElementView view;
  parse_head(format, bytes, view);
  KW_CHECK(view.bytes() <= bytes.size());
  view.value = {view.key.data() + view.key.size(), view.value_bytes};
  return view;
}
/// Whether the checksum matches. A bare element has none: then whether all of it is there.
bool element_intact(const ElementFormat& format, std::span<const std::byte> bytes);
/// The same of a value that does not lie behind its head.
bool element_intact(const ElementFormat& format, const ElementHead& head, std::string_view value);
/// The header that says this, without a mark.
ElementHeader header_of(const ElementHead& head);
/// The checksum's terms of header and expiry.
std::uint64_t header_term(const ElementHeader& header, std::uint64_t expires_at_ms);
/// The header of an element that is written as a whole, with its checksum.
[[gnu::hot]] ElementHeader header_for(const ElementFormat& format, std::string_view key,
                                      std::string_view value, std::uint64_t expires_at_ms,
                                      std::uint16_t version, std::uint32_t stamp);
/// Writes header and expiry to an element's first bytes, of which there are header.key_at().
void write_header(std::span<std::byte> out, const ElementHeader& header,
                  std::uint64_t expires_at_ms);
/// Writes an element to `out`, which has format.bytes_of() bytes. `value` may not overlap `out`.
void write_element(const ElementFormat& format, std::span<std::byte> out, std::string_view key,
                   std::string_view value, std::uint64_t expires_at_ms, std::uint16_t version,
                   std::uint32_t stamp);

}  // namespace keyway::store
