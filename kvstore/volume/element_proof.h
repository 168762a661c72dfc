// What an element proves by itself to a reader without its lock (K8 of session.h).
//
// *Thread safety.* Functions of their arguments: an entry and a block that were copied, and may be
// anything.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "keyway/kvstore/layout/bucket.h"
#include "keyway/kvstore/layout/element.h"
#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/layout/size_class.h"

namespace keyway::store {

/// Whether an entry can be that of a block. A line that is read without its lock may mix two of its
/// states, so that the bytes of an inline element look like an entry.
inline bool may_be_block(const Geometry& geometry, EntryWord entry) {
  return entry.kind() == EntryKind::kHeap && entry.size_class() < kClasses &&
         entry.offset() >= geometry.chunk(0, 0).offset() &&
         entry.offset() + class_bytes(entry.size_class()) <= geometry.segment_bytes();
}

// Torn: it is being changed.
enum class Proof : std::uint8_t { kAccepted, kTorn, kRefused };

/// Whether a block has the committed element of a key: it has no mark, right(its stamp), its
/// checksum matches, it is the key's, and it does not expire. `element` is then a view of the
/// block.
template <class Right>
Proof prove_element(const ElementFormat& format, std::span<const std::byte> block,
                    std::string_view key, Right&& right, ElementView& element) {
  const auto header = ElementHeader::of(format, block);
  if (header.marked() || !right(header.stamp)) return Proof::kRefused;
  if (header.total() > block.size()) return Proof::kTorn;
  element = parse_element(format, block);
  if (!element_intact(format, element, element.value)) return Proof::kTorn;
  return element.key == key && !element.expires() ? Proof::kAccepted : Proof::kRefused;
}

}  // namespace keyway::store
