// WriteReserve<E>: makes sure that several writes cannot fail half-way.
//
// *What.* Before the first of several keys changes, it leases every block that the writes may need,
// and makes room in the session's own memory for all that they read and compose.
// *Thread safety.* One session's; the stripes of all keys are locked.
// *Invariants.* K3 of session.h.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "keyway/kvstore/room/block_needs.h"
#include "keyway/kvstore/volume/bucket_chain.h"
#include "keyway/locks/fabric/with_access.h"

namespace keyway::store {

/// An element but for its value, at most: so much a reader reads of a remote run.
inline constexpr std::uint64_t kLongestHead = layout_bytes(kMaxKeyBytes, 0, true);
static_assert(kLongestHead > kChunkBytes);

/// A write of an operation on several keys, as far as the heap is concerned.
struct PlannedWrite {
  Location location;
  std::string_view key;
  std::uint64_t value_bytes = 0;
  bool expires = false;
  bool keep_expiry = false;  // as the element that is there does, if any

  bool inlined() const { return !expires && key.size() + value_bytes <= kInlineBytes; }
  std::uint64_t bytes() const { return element_bytes(key.size(), value_bytes, expires); }
};

template <fabric::Endpoint E>
class WriteReserve {
 public:
  WriteReserve(E& ep, const Geometry& geometry, Heap<E>& heap, ElementReader<E>& reader,
               BucketChain<E>& chain)
      : ep_(ep), geometry_(geometry), heap_(heap), reader_(reader), chain_(chain) {}
  WriteReserve(const WriteReserve&) = delete;
  WriteReserve& operator=(const WriteReserve&) = delete;

  /// Leases the blocks, and makes room for composing the elements.
  Status writes(std::span<const PlannedWrite> writes);
  /// Reserves memory for all reads of a change of these keys: for the chains of their buckets, and
  /// for remote elements with keys that are compared with them. The sizes in the lines stay true
  /// while the stripes are locked. The first lines of many remote buckets are read in one round
  /// trip.
  void reads(std::span<const Location> locations);

 private:
  template <class Access>
  std::size_t chain(Access access, const Location& location, const Bucket& first);
  void composed(std::span<const PlannedWrite> writes);
  void need_at_most(BlockNeeds<E>& needs, std::span<const PlannedWrite> writes) const;
  void need_exactly(BlockNeeds<E>& needs, std::span<const PlannedWrite> writes);

  E& ep_;
  const Geometry& geometry_;
  Heap<E>& heap_;
  ElementReader<E>& reader_;
  BucketChain<E>& chain_;
  std::vector<Bucket> first_lines_;
};

/// The blocks that the writes need at most. It reads no element.
template <fabric::Endpoint E>
void WriteReserve<E>::need_at_most(BlockNeeds<E>& needs,
                                   std::span<const PlannedWrite> writes) const {
  for (PlannedWrite write : writes) {
    const std::uint32_t rank = write.location.rank;
    if (!write.inlined()) needs.add(rank, write.bytes());
    if (write.keep_expiry) {  // or else an element of the other kind, which has another size
      write.expires = !write.expires;
      if (!write.inlined()) needs.add(rank, write.bytes());
    }
    needs.add(rank, kBucketBytes);  // an overflow bucket, should its line be full
  }
}

/// The blocks that the writes need, after reading each element: none for one that is rewritten in
/// place.
template <fabric::Endpoint E>
void WriteReserve<E>::need_exactly(BlockNeeds<E>& needs, std::span<const PlannedWrite> writes) {
  std::vector<std::string_view> keys;
  for (const PlannedWrite& write : writes) keys.push_back(write.key);
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 0; i < writes.size(); ++i) {
    PlannedWrite write = writes[i];
    const auto named = std::equal_range(keys.begin(), keys.end(), write.key);
    const Location& location = write.location;
    Found found;
    const Code code = fabric::with_access(ep_, location.rank, [&](auto access) {
      return chain_.locate(access, location, write.key, found);
    });
    // A key that is named twice is not as it is now when its second turn comes.
    if (code != Code::kOk || named.second - named.first > 1) {
      need_at_most(needs, writes.subspan(i, 1));
      continue;
    }
    if (write.keep_expiry && found.live()) write.expires = found.head.expires();
    if (fits_in_place(found, write.key.size(), write.value_bytes, write.expires)) continue;
    if (!write.inlined()) needs.add(location.rank, write.bytes());
    // An entry that replaces one at least as long finds room in that one's line.
    const bool room = found.at != 0 && !(write.inlined() && found.entry.kind() == EntryKind::kHeap);
    if (!room) needs.add(location.rank, kBucketBytes);
  }
}

template <fabric::Endpoint E>
void WriteReserve<E>::reads(std::span<const Location> locations) {
  std::size_t longest = 0;
  for (std::size_t from = 0; from < locations.size(); from += kBucketsAhead) {
    const auto part =
        locations.subspan(from, std::min<std::size_t>(kBucketsAhead, locations.size() - from));
    first_lines_.resize(part.size());
    bool posted = false;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (ep_.is_local(part[i].rank)) continue;
      ep_.post_read(fabric::rma, geometry_.bucket(part[i].rank, part[i].bucket),
                    std::as_writable_bytes(std::span(first_lines_[i].words)));
      posted = true;
    }
    if (posted) ep_.flush_all();
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::size_t lines = fabric::with_access(ep_, part[i].rank, [&](auto access) {
        return chain(access, part[i], first_lines_[i]);
      });
      longest = std::max(longest, lines);
    }
  }
  chain_.reserve_lines(longest + locations.size());  // each write may add a line
}

/// The same for one key, in the bucket that begins with the line `first`; returns the lines of the
/// chain. Elements in chunks fit a buffer of a chunk; from a run with the same tag only as much is
/// read as a head with the wanted key has.
template <fabric::Endpoint E>
template <class Access>
std::size_t WriteReserve<E>::chain(Access access, const Location& location, const Bucket& first) {
  std::size_t lines = 1;
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    fabric::Address at = geometry_.bucket(location.rank, location.bucket);
    const auto link = [&] { return reinterpret_cast<const Bucket*>(ep_.view(at))->link(); };
    for (std::uint64_t next = link(); next != 0; next = link()) {
      at = {location.rank, next};
      ++lines;
    }
    return lines;
  } else {
    reader_.reserve(kChunkBytes);
    Bucket line = first;
    while (true) {
      for (std::uint32_t i = 1; i < kBucketWords; i += line.entry(i).words()) {
        const EntryWord entry = line.entry(i);
        if (entry.kind() == EntryKind::kEmpty) break;
        if (entry.kind() == EntryKind::kHeap && entry.size_class() == kRunClass &&
            entry.tag() == tag_of(location.hash)) {
          reader_.reserve(kLongestHead);
        }
      }
      if (line.link() == 0) return lines;
      ++lines;
      ep_.read(access, {location.rank, line.link()}, std::as_writable_bytes(std::span(line.words)));
    }
  }
}

/// Makes room for the elements that the writes compose for remote ranks. A later key may have the
/// bucket and the tag of an element that becomes a run: then the head of the run is read to compare
/// the keys, so it needs room as well. A single run needs that room, too: the later key may be one
/// that the operation erases, and `writes` does not name these.
template <fabric::Endpoint E>
void WriteReserve<E>::composed(std::span<const PlannedWrite> writes) {
  for (const PlannedWrite& write : writes) {
    if (write.inlined() && !write.keep_expiry) continue;
    if (ep_.is_local(write.location.rank)) continue;
    const std::uint64_t bytes = write.bytes() + (write.keep_expiry ? kExpiryBytes : 0);
    chain_.reserve_composed(bytes);
    if (bytes > kChunkBytes) reader_.reserve(kLongestHead);
  }
}

template <fabric::Endpoint E>
Status WriteReserve<E>::writes(std::span<const PlannedWrite> writes) {
  composed(writes);
  BlockNeeds<E> most;
  need_at_most(most, writes);
  if (most.reserve(heap_)) return {};
  heap_.return_all();  // our blocks of other classes may be the missing room
  BlockNeeds<E> exact;
  need_exactly(exact, writes);
  if (exact.reserve(heap_)) return {};
  heap_.return_all();  // a failure keeps no room from others
  return {Code::kOutOfSpace,
          fmt::format("the heap has no room for these {} elements at once; nothing was written",
                      writes.size())};
}

}  // namespace keyway::store
