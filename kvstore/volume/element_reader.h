// ElementReader<E>: finds the element of a key among the entries of a line, and reads it.
//
// *What.* A local element is shown where it lies. A remote one is read with one bulk read of its
// whole block, of which the checksum is verified; of a run all but the value is read first, and
// then the requested range of the value.
// *Thread safety.* One session's. The stripe is locked while it reads, and what it shows is valid
// until the next read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/kvstore/volume/found.h"
#include "keyway/kvstore/volume/operation_clock.h"
#include "keyway/locks/base/clear_and_shrink.h"
#include "keyway/locks/base/prefetch.h"
#include "keyway/locks/fabric/endpoint.h"

namespace keyway::store {

/// A buffer that grew beyond this is freed after the operation.
inline constexpr std::size_t kMaxKept = 1 << 20;

/// A block that was read together with the line that may refer to it, or is to be.
struct BlockAtHand {
  EntryWord entry;  // empty: none
  std::span<const std::byte> bytes;
};

template <fabric::Endpoint E>
class ElementReader {
 public:
  ElementReader(E& ep, const Geometry& geometry, OperationClock<E>& clock)
      : ep_(ep), geometry_(geometry), clock_(clock) {}
  ElementReader(const ElementReader&) = delete;
  ElementReader& operator=(const ElementReader&) = delete;

  /// Searches for the key among the entries of one line. Inline elements stay where the line is.
  /// kCorruption is the only failure; `found.at` says whether the key is there.
  template <class Access>
  [[gnu::hot]] Code match(Access access, const Location& location, const Bucket& line,
                          std::string_view key, Found& found, const BlockAtHand& at_hand = {});
  /// Shows a range of the value of what was found: in place if it is at hand.
  template <class Access>
  Code show(Access access, std::uint32_t rank, const Found& found, ValueRange range,
            ElementPart& part);

  /// Prefetches the lines of a local element.
  void prefetch(std::uint32_t rank, EntryWord entry) const;
  /// Whether an element with this header, read from another rank, can be where the entry says.
  bool is_within(EntryWord entry, const ElementHeader& header) const;
  /// Reads bytes of a segment to this reader's buffer, which the next read uses again.
  template <class Access>
  std::span<const std::byte> read(Access access, fabric::Address at, std::uint64_t bytes) {
    fetched_.resize(bytes);
    ep_.read(access, at, fetched_);
    return fetched_;
  }
  /// Reserves memory for reads of this many bytes (K3).
  void reserve(std::uint64_t bytes) { fetched_.reserve(bytes); }
  void shrink_buffers(std::size_t most = kMaxKept) {
    clear_and_shrink(fetched_, most);
    clear_and_shrink(part_, most);
  }

 private:
  template <class Access>
  std::span<const std::byte> fetch(Access access, std::uint32_t rank, EntryWord entry,
                                   std::uint64_t key_bytes, const BlockAtHand& at_hand);
  template <class Access>
  Code read_value(Access access, std::uint32_t rank, const Found& found, ValueRange range,
                  ElementPart& part);

  E& ep_;
  const Geometry& geometry_;
  OperationClock<E>& clock_;
  std::vector<std::byte> fetched_;  // a remote element, or a remote run's all but its value
  std::vector<std::byte> part_;     // the part of a remote run's value that is shown
};

template <fabric::Endpoint E>
inline void ElementReader<E>::prefetch(std::uint32_t rank, EntryWord entry) const {
  // The first lines; the hardware prefetcher follows a longer element by itself.
  constexpr std::uint64_t kLines = 4;
  const std::byte* at = ep_.view({rank, entry.offset()});
  const std::uint64_t bytes =
      entry.size_class() == kRunClass ? kChunkBytes : class_bytes(entry.size_class());
  for (std::uint64_t i = 0; i < std::min(bytes, kLines * fabric::kCacheLine);
       i += fabric::kCacheLine) {
    prefetch_line(at + i);
  }
  prefetch_line(at + std::min(bytes, kLines * fabric::kCacheLine) - 1);
}

template <fabric::Endpoint E>
bool ElementReader<E>::is_within(EntryWord entry, const ElementHeader& header) const {
  const std::uint64_t room = entry.size_class() == kRunClass
                                 ? geometry_.segment_bytes() - entry.offset()
                                 : class_bytes(entry.size_class());
  return header.total() <= room;
}

/// The bytes of a heap element that may have a key of this length: in place when local; else one
/// bulk read of its whole block, with a check of the checksum, or for a run of all but the value.
/// Empty if it is damaged.
template <fabric::Endpoint E>
template <class Access>
std::span<const std::byte> ElementReader<E>::fetch(Access access, std::uint32_t rank,
                                                   EntryWord entry, std::uint64_t key_bytes,
                                                   const BlockAtHand& at_hand) {
  const fabric::Address at{rank, entry.offset()};
  const ElementFormat& format = geometry_.elements();
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    prefetch(rank, entry);
    const std::byte* start = ep_.view(at);
    const std::uint64_t bytes =
        entry.size_class() == kRunClass
            ? ElementHeader::of(format, {start, format.header_bytes()}).total()
            : class_bytes(entry.size_class());
    return {start, bytes};
  } else {
    if (entry.word() == at_hand.entry.word()) {
      return element_intact(format, at_hand.bytes) ? at_hand.bytes : std::span<const std::byte>();
    }
    const bool run = entry.size_class() == kRunClass;
    const std::uint64_t head =
        std::min(format.bytes_with(key_bytes, 0, true), geometry_.segment_bytes() - entry.offset());
    fetched_.resize(run ? head : class_bytes(entry.size_class()));
    if (clock_.wants_words()) {
      clock_.read_with_words(rank, [&] { ep_.post_read(access, at, fetched_); });
    } else {
      ep_.read(access, at, fetched_);
    }
    const bool sound = run ? is_within(entry, ElementHeader::of(format, fetched_))
                           : element_intact(format, fetched_);
    if (!sound) return {};
    return fetched_;
  }
}

/// Reads a range of a remote value in one bulk read. A value that is read as a whole must match the
/// element's checksum.
template <fabric::Endpoint E>
template <class Access>
Code ElementReader<E>::read_value(Access access, std::uint32_t rank, const Found& found,
                                  ValueRange range, ElementPart& part) {
  if (range.length == 0) return Code::kOk;
  const ElementHead& head = found.head;
  part_.resize(range.length);
  ep_.read(access, {rank, found.entry.offset() + head.value_at() + range.offset}, part_);
  part.bytes = {reinterpret_cast<const char*>(part_.data()), part_.size()};
  const bool whole = range.length == head.value_bytes;
  return !whole || element_intact(geometry_.elements(), head, part.bytes) ? Code::kOk
                                                                          : Code::kCorruption;
}

template <fabric::Endpoint E>
template <class Access>
[[gnu::always_inline]] inline Code ElementReader<E>::show(Access access, std::uint32_t rank,
                                                          const Found& found, ValueRange range,
                                                          ElementPart& part) {
  range = range.cut(found.head.value_bytes);
  part = {{}, found.head.value_bytes, found.head.expires_at_ms};
  if (!found.whole) return read_value(access, rank, found, range, part);
  part.bytes = {found.value() + range.offset, range.length};
  return Code::kOk;
}

template <fabric::Endpoint E>
template <class Access>
Code ElementReader<E>::match(Access access, const Location& location, const Bucket& line,
                             std::string_view key, Found& found, const BlockAtHand& at_hand) {
  const std::uint64_t tag = tag_of(location.hash);
  for (std::uint32_t i = 1; i < kBucketWords; i += line.entry(i).words()) {
    const EntryWord entry = line.entry(i);
    if (entry.kind() == EntryKind::kEmpty) break;
    if (entry.tag() != tag) continue;
    if (entry.kind() == EntryKind::kInline) {
      if (line.inline_key(i) != key) continue;
    } else {
      const auto element = fetch(access, location.rank, entry, key.size(), at_hand);
      if (element.empty()) return Code::kCorruption;
      if (!begins_with_key(geometry_.elements(), element, key)) continue;
      found.take(geometry_.elements(), element);
    }
    found.at = static_cast<std::uint16_t>(i);
    found.entry = entry;
    if (entry.kind() == EntryKind::kInline) found.take_inline(line);
    clock_.expect_expiry(found.head.expires());
    found.expired = clock_.is_past(location.rank, found.head.expires_at_ms);
    break;
  }
  return Code::kOk;
}

}  // namespace keyway::store
