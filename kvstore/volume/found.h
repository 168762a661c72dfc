// Found: the result of a search of a bucket's chain: an entry and its element.
//
// *Thread safety.* Values of one session.
#pragma once

#include <cstdint>
#include <span>

#include "keyway/kvstore/layout/bucket.h"
#include "keyway/kvstore/layout/element.h"

namespace keyway::store {

/// An entry, its element as far as that has been read, and whether the element is past its expiry.
struct Found {
  std::uint32_t line = 0;  // index in the chain, after a search for a change
  std::uint16_t at = 0;    // 0: nothing found
  bool expired = false;
  EntryWord entry;
  ElementHead head;
  const char* value = nullptr;  // if the whole of it is at hand

  bool live() const { return at != 0 && !expired; }
  void take_inline(const Bucket& bucket) {
    head = {.key = bucket.inline_key(at), .value_bytes = entry.value_bytes()};
    value = bucket.inline_value(at).data();
  }
  /// Takes an element of the heap: its first bytes, up to its value, or all.
  void take(std::span<const std::byte> bytes) {
    parse_head(bytes, head);
    const char* first = reinterpret_cast<const char*>(bytes.data());
    value = bytes.size() >= head.bytes() ? first + head.value_at() : nullptr;
  }
};
// One is made for every operation, and zeroed: g++ does that to larger ones by a slow instruction.
static_assert(sizeof(Found) <= 64);

/// Whether the new bytes fit the block that was found, so that no line changes.
inline bool fits_in_place(const Found& found, std::uint64_t key_bytes, std::uint64_t value_bytes,
                          bool expires) {
  if (found.at == 0 || found.entry.kind() != EntryKind::kHeap) return false;
  if (!expires && key_bytes + value_bytes <= kInlineBytes) return false;
  const std::uint64_t bytes = element_bytes(key_bytes, value_bytes, expires);
  if (class_for(bytes) != found.entry.size_class()) return false;
  if (found.entry.size_class() != kRunClass) return true;
  return run_chunks(found.head.bytes()) == run_chunks(bytes);
}

}  // namespace keyway::store
