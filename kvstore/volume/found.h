// Found: the result of a search of a bucket's chain: an entry and its element.
//
// *Thread safety.* Values of one session.
#pragma once

#include <cstdint>
#include <span>

#include "keyway/kvstore/layout/bucket.h"
#include "keyway/kvstore/layout/element.h"

namespace keyway::store {

/// The block of an element, and its stamp there, for a reader without a lock (stamp.h).
struct ElementPlace {
  EntryWord entry;  // empty: there is no such place
  std::uint32_t stamp = 0;

  bool known() const { return entry.kind() != EntryKind::kEmpty; }
};

/// An entry, its element as far as that has been read, and whether the element is past its expiry.
struct Found {
  std::uint32_t line = 0;  // index in the chain, after a search for a change
  std::uint16_t at = 0;    // 0: nothing found
  bool expired = false;
  bool whole = false;  // the value is at hand, too
  EntryWord entry;
  ElementHead head;

  bool live() const { return at != 0 && !expired; }
  /// The place for a read without its lock.
  ElementPlace place() const {
    if (!live() || entry.kind() != EntryKind::kHeap || head.expires()) return {};
    return {entry, head.stamp};
  }
  /// The value, which lies behind its key; null if it is not at hand.
  const char* value() const { return whole ? head.key.data() + head.key.size() : nullptr; }
  void take_inline(const Bucket& bucket) {
    head = {.key = bucket.inline_key(at), .value_bytes = entry.value_bytes()};
    whole = true;
  }
  /// Takes an element of the heap: its first bytes, up to its value, or all.
  void take(const ElementFormat& format, std::span<const std::byte> bytes) {
    parse_head(format, bytes, head);
    whole = bytes.size() >= head.bytes();
  }
};
// One is made for every operation, and zeroed: g++ does that to larger ones by a slow instruction.
static_assert(sizeof(Found) <= 64);

/// Whether the new bytes fit the block that was found, so that no line changes.
inline bool fits_in_place(const ElementFormat& format, const Found& found, std::uint64_t key_bytes,
                          std::uint64_t value_bytes, bool expires) {
  if (found.at == 0 || found.entry.kind() != EntryKind::kHeap) return false;
  if (!expires && key_bytes + value_bytes <= kInlineBytes) return false;
  const std::uint64_t bytes = format.bytes_of(key_bytes, value_bytes, expires);
  if (class_for(bytes) != found.entry.size_class()) return false;
  if (found.entry.size_class() != kRunClass) return true;
  return run_chunks(found.head.bytes()) == run_chunks(bytes);
}

}  // namespace keyway::store
