// Notes of a session on the operation under way: places, lines and elements that it has read.
//
// *Thread safety.* Values of one session.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "keyway/kvstore/layout/bucket.h"
#include "keyway/kvstore/layout/element.h"
#include "keyway/kvstore/volume/heap.h"
#include "keyway/locks/base/function_ref.h"
#include "keyway/locks/fabric/address.h"

namespace keyway::store {

/// Lines of buckets that are read at once from another node.
inline constexpr std::uint64_t kBucketsAhead = 64;
/// Between two sweeps by a session whose writes find the heap full.
inline constexpr std::uint64_t kSweepPauseNs = 100'000'000;
/// Lines of a chain, and blocks that one write makes free: room for them is made beforehand.
inline constexpr std::size_t kDefaultLines = 32;
inline constexpr std::size_t kMaxGarbage = 2;
/// A buffer that grew beyond this is given back after the operation.
inline constexpr std::size_t kMaxKept = 1 << 20;

}  // namespace keyway::store

namespace keyway::store::detail {

/// Makes room for so many more. Unlike reserve() it grows by half at least, so repeated small
/// requests copy each item a few times only.
template <class Items>
[[gnu::always_inline]] inline void reserve_more(Items& items, std::size_t more) {
  const std::size_t needed = items.size() + more;
  if (needed <= items.capacity()) return;
  items.reserve(std::max(needed, items.capacity() + items.capacity() / 2));
}

struct Location {
  std::uint64_t hash = 0;
  std::uint64_t bucket = 0;
  std::uint64_t stripe = 0;
  std::uint32_t rank = 0;
};

/// A copy of one line of a bucket's chain.
struct Line {
  fabric::Address at;
  Bucket bucket;
  bool dirty = false;
};

/// The result of find() or locate(): an entry (of a line of chain_, if locate() found it), its
/// element as far as that has been read, and whether the element is past its expiry.
struct Found {
  std::uint32_t line = 0;
  std::uint16_t at = 0;  // 0: nothing found
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

/// A write of a multi-key operation, as far as the heap is concerned.
struct PlannedWrite {
  Location location;
  std::string_view key;
  std::uint64_t value_bytes = 0;
  bool expires = false;
  bool keep_expiry = false;  // as the element that is there does, if any

  bool inlined() const { return !expires && key.size() + value_bytes <= kInlineBytes; }
  std::uint64_t bytes() const { return element_bytes(key.size(), value_bytes, expires); }
};

/// A block that a write has made free; returned once the stripe's lock is.
struct Garbage {
  std::uint32_t rank = 0;
  Block block;
};

/// A walk reads so many bytes of an element: they hold header, expiry, and most keys. At once it
/// reads those of at most as many elements as a line has entries.
inline constexpr std::uint64_t kPeekBytes = 64;
inline constexpr std::size_t kPeeks = kEntryWords;
using Peeked = std::array<std::array<std::byte, kPeekBytes>, kPeeks>;

/// An entry of chain_ that a scan has not shown yet. It begins at word `entry` of the line.
struct Unshown {
  std::uint32_t tag = 0;  // as Geometry::cursor_tag() has it
  std::uint32_t line = 0;
  std::uint32_t entry = 0;

  auto operator<=>(const Unshown&) const = default;
};

/// A scan shows keys only, or elements with their values.
enum class Shown : std::uint8_t { kKeys, kElements };
using ScanSink = FunctionRef<void(std::string_view key, std::string_view value)>;

}  // namespace keyway::store::detail
