// A bucket: one cache line of slots.
//
// Word 0, the header:   bits 63..40  version, raised by every change of the line; of the first line
//                                    of a bucket, by every change of any of its lines
//                       bits 39..0   overflow bucket: its offset / 8, 0 when there is none; all
//                                    ones in the first line of a bucket that is being changed
// Words 1..7, packed from the front, hold entries. The first word of an entry:
//                       bits 63..62  kind: 0 empty, 1 inline, 2 heap, 3 reserved (the durable tier)
//                       bits 61..48  tag: 14 bits of the key's hash
//   heap entry, 1 word: bits 47..40  size class of its block, so that one read fetches the whole
//                       bits 39..0   offset / 8 of the element (8 TiB per rank)
//   inline, 3 words:    bits 47..43  key length, 1..16;  bits 42..38  value length, 0..15
//                       then 16 bytes: key and value, one after the other
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "keyway/locks/base/check.h"

namespace keyway::store {

inline constexpr std::uint32_t kBucketWords = 8;
inline constexpr std::uint64_t kBucketBytes = kBucketWords * 8;
inline constexpr std::uint32_t kEntryWords = kBucketWords - 1;
inline constexpr std::uint64_t kInlineBytes = 16;
inline constexpr std::uint32_t kInlineEntryWords = 3;

enum class EntryKind : std::uint8_t { kEmpty = 0, kInline = 1, kHeap = 2 };

/// The first word of an entry.
class EntryWord {
 public:
  constexpr EntryWord() = default;
  constexpr explicit EntryWord(std::uint64_t word) : word_(word) {}
  static constexpr EntryWord heap(std::uint64_t tag, std::uint32_t size_class,
                                  std::uint64_t offset) {
    return EntryWord(2ULL << 62 | tag << 48 | static_cast<std::uint64_t>(size_class) << 40 |
                     offset / 8);
  }
  static constexpr EntryWord inlined(std::uint64_t tag, std::uint64_t key_bytes,
                                     std::uint64_t value_bytes) {
    return EntryWord(1ULL << 62 | tag << 48 | key_bytes << 43 | value_bytes << 38);
  }

  constexpr std::uint64_t word() const { return word_; }
  constexpr EntryKind kind() const { return static_cast<EntryKind>(word_ >> 62); }
  constexpr std::uint64_t tag() const { return word_ >> 48 & kTagMask; }
  constexpr std::uint32_t size_class() const {
    return static_cast<std::uint32_t>(word_ >> 40 & 0xff);
  }
  constexpr std::uint64_t offset() const { return (word_ & kOffsetMask) * 8; }
  constexpr std::uint32_t key_bytes() const {
    return static_cast<std::uint32_t>(word_ >> 43 & 0x1f);
  }
  constexpr std::uint32_t value_bytes() const {
    return static_cast<std::uint32_t>(word_ >> 38 & 0x1f);
  }
  /// Words that an entry of this kind takes.
  constexpr std::uint32_t words() const {
    return kind() == EntryKind::kInline ? kInlineEntryWords : 1;
  }

  static constexpr std::uint32_t kTagBits = 14;
  static constexpr std::uint64_t kTagMask = (1u << kTagBits) - 1;
  static constexpr std::uint64_t kOffsetMask = (1ULL << 40) - 1;

 private:
  std::uint64_t word_ = 0;
};
static_assert(sizeof(EntryWord) == 8);

/// The tag of a hash: its low bits, which the bucket index (the high ones) does not use.
constexpr std::uint64_t tag_of(std::uint64_t hash) { return hash & EntryWord::kTagMask; }

/// A copy of a line. Not shared: an agent that changes one holds its stripe and writes it back.
struct Bucket {
  std::array<std::uint64_t, kBucketWords> words{};

  std::uint64_t link() const { return (words[0] & EntryWord::kOffsetMask) * 8; }
  void set_link(std::uint64_t offset) {
    words[0] = (words[0] & ~EntryWord::kOffsetMask) | offset / 8;
  }
  std::uint64_t version() const { return words[0] >> 40; }
  static constexpr std::uint64_t kMaxVersion = (1u << 24) - 1;
  void raise_version() { words[0] += 1ULL << 40; }
  /// A header whose bucket is being changed, for readers without a lock (K9 of session.h).
  static constexpr std::uint64_t changing(std::uint64_t header) {
    return header | EntryWord::kOffsetMask;
  }
  static constexpr bool is_changing(std::uint64_t header) { return header == changing(header); }

  EntryWord entry(std::uint32_t at) const { return EntryWord(words[at]); }
  /// The first entry with a tag; empty if there is none. The words may be anything.
  EntryWord first_with_tag(std::uint64_t tag) const {
    for (std::uint32_t i = 1; i < kBucketWords; i += entry(i).words()) {
      if (entry(i).kind() == EntryKind::kEmpty) break;
      if (entry(i).tag() == tag) return entry(i);
    }
    return {};
  }
  /// Calls visit(at, entry) for each entry, from the first word on.
  template <class Visit>
  void for_each_entry(Visit&& visit) const {
    for (std::uint32_t i = 1; i < kBucketWords; i += entry(i).words()) {
      if (entry(i).kind() == EntryKind::kEmpty) break;
      visit(i, entry(i));
    }
  }
  /// The first free word; kBucketWords when the line is full.
  std::uint32_t used() const {
    std::uint32_t at = 1;
    while (at < kBucketWords && entry(at).kind() != EntryKind::kEmpty) at += entry(at).words();
    return at;
  }
  bool empty() const { return entry(1).kind() == EntryKind::kEmpty; }
  bool has_room(std::uint32_t entry_words) const { return used() + entry_words <= kBucketWords; }

  /// The bytes of an inline entry.
  std::string_view inline_key(std::uint32_t at) const {
    return {reinterpret_cast<const char*>(&words[at + 1]), entry(at).key_bytes()};
  }
  std::string_view inline_value(std::uint32_t at) const {
    return {reinterpret_cast<const char*>(&words[at + 1]) + entry(at).key_bytes(),
            entry(at).value_bytes()};
  }
  /// Puts an entry at a free place or over one of the same kind.
  void set_heap(std::uint32_t at, EntryWord entry) { words[at] = entry.word(); }
  void set_inline(std::uint32_t at, std::uint64_t tag, std::string_view key,
                  std::string_view value) {
    KW_DCHECK(key.size() + value.size() <= kInlineBytes && at + kInlineEntryWords <= kBucketWords);
    words[at] = EntryWord::inlined(tag, key.size(), value.size()).word();
    words[at + 1] = words[at + 2] = 0;
    auto* bytes = reinterpret_cast<char*>(&words[at + 1]);
    key.copy(bytes, key.size());
    value.copy(bytes + key.size(), value.size());  // not memcpy: data() may be null
  }
  /// Takes an entry out and closes the gap.
  void remove(std::uint32_t at) {
    const std::uint32_t gap = entry(at).words();
    for (std::uint32_t i = at; i < kBucketWords; ++i) {
      words[i] = i + gap < kBucketWords ? words[i + gap] : 0;
    }
  }
};
static_assert(sizeof(Bucket) == kBucketBytes);

}  // namespace keyway::store
