// WriteReserve<E>: makes sure that several writes cannot fail half-way.
//
// *What.* Before the first of several keys changes, it leases every block that the writes may need,
// and makes room in the session's own memory, in each lane that takes part, for all that they read
// and compose.
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
#include "keyway/kvstore/volume/key_survey.h"
#include "keyway/kvstore/volume/lane.h"
#include "keyway/locks/fabric/with_access.h"

namespace keyway::store {

/// An element but for its value, at most: so much a reader reads of a remote run.
inline constexpr std::uint64_t kLongestHead = kMaxHeaderBytes + kMaxKeyBytes;
static_assert(kLongestHead > kChunkBytes);

/// A write of an operation on several keys, as far as the heap is concerned.
struct PlannedWrite {
  Location location;
  std::string_view key;
  std::uint64_t value_bytes = 0;
  bool expires = false;
  bool keep_expiry = false;  // as the element that is there does, if any

  bool inlined() const { return !expires && key.size() + value_bytes <= kInlineBytes; }
  std::uint64_t bytes(const ElementFormat& format) const {
    return format.bytes_of(key.size(), value_bytes, expires);
  }
};

template <fabric::Endpoint E>
class WriteReserve {
 public:
  WriteReserve(E& ep, const Geometry& geometry, Heap<E>& heap, BucketChain<E>& chain)
      : ep_(ep), geometry_(geometry), heap_(heap), chain_(chain) {}
  WriteReserve(const WriteReserve&) = delete;
  WriteReserve& operator=(const WriteReserve&) = delete;

  /// A new operation begins.
  void begin() { buffers_ = {}; }
  /// Leases the blocks, and notes what composing the elements needs.
  Status writes(std::span<const PlannedWrite> writes);
  /// Notes what all reads of a change of these keys need: for the chains of their buckets, and for
  /// remote elements with keys that are compared with them. The sizes in the lines stay true while
  /// the stripes are locked. `all`: keys of the operation.
  void reads(const KeySurvey<E>& survey, std::size_t all);
  /// The same where all keys are local.
  void local_reads(std::span<const Location> locations);
  /// Reserves what has been noted. Before the first key changes, for each lane.
  void give(Lane<E>& lane) const {
    lane.chain.reserve_lines(buffers_.lines);
    lane.chain.reserve_composed(buffers_.composed);
    lane.reader.reserve(buffers_.read);
  }
  /// Lanes that fit kMaxLaneBytes, besides the first.
  std::size_t lanes() const {
    return 1 + kMaxLaneBytes / std::max<std::uint64_t>(buffers_.composed + buffers_.read, 1);
  }

 private:
  /// Bytes of buffers that lanes may reserve together: large values are written one by one.
  static constexpr std::uint64_t kMaxLaneBytes = 4 << 20;
  struct Buffers {
    std::size_t lines = 0;
    std::uint64_t read = 0;
    std::uint64_t composed = 0;
  };

  /// The part that is read of an element with the tag of a key: its block, or of a run as much as a
  /// head with the wanted key has.
  static constexpr std::uint64_t bytes_read_of(std::uint32_t size_class) {
    return size_class == kRunClass ? kLongestHead : class_bytes(size_class);
  }
  void need_read(std::uint64_t bytes) { buffers_.read = std::max(buffers_.read, bytes); }
  void composed(std::span<const PlannedWrite> writes);
  void need_at_most(BlockNeeds<E>& needs, std::span<const PlannedWrite> writes) const;
  void need_exactly(BlockNeeds<E>& needs, std::span<const PlannedWrite> writes);

  E& ep_;
  const Geometry& geometry_;
  Heap<E>& heap_;
  BucketChain<E>& chain_;
  Buffers buffers_;
};

/// The blocks that the writes need at most. It reads no element.
template <fabric::Endpoint E>
void WriteReserve<E>::need_at_most(BlockNeeds<E>& needs,
                                   std::span<const PlannedWrite> writes) const {
  for (PlannedWrite write : writes) {
    const std::uint32_t rank = write.location.rank;
    if (!write.inlined()) needs.add(rank, write.bytes(geometry_.elements()));
    if (write.keep_expiry) {  // or else an element of the other kind, which has another size
      write.expires = !write.expires;
      if (!write.inlined()) needs.add(rank, write.bytes(geometry_.elements()));
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
    const ElementFormat& format = geometry_.elements();
    if (fits_in_place(format, found, write.key.size(), write.value_bytes, write.expires)) continue;
    if (!write.inlined()) needs.add(location.rank, write.bytes(format));
    // An entry that replaces one at least as long finds room in that one's line.
    const bool room = found.at != 0 && !(write.inlined() && found.entry.kind() == EntryKind::kHeap);
    if (!room) needs.add(location.rank, kBucketBytes);
  }
}

template <fabric::Endpoint E>
void WriteReserve<E>::reads(const KeySurvey<E>& survey, std::size_t all) {
  buffers_.lines = std::max(buffers_.lines, survey.longest() + all);  // each write may add a line
  for (const auto& candidate : survey.candidates()) {
    need_read(bytes_read_of(candidate.entry.size_class()));
  }
}

template <fabric::Endpoint E>
void WriteReserve<E>::local_reads(std::span<const Location> locations) {
  std::size_t longest = 0;
  for (const Location& location : locations) {
    std::size_t lines = 1;
    fabric::Address at = geometry_.bucket(location.rank, location.bucket);
    const auto link = [&] { return reinterpret_cast<const Bucket*>(ep_.view(at))->link(); };
    for (std::uint64_t next = link(); next != 0; next = link()) {
      at = {location.rank, next};
      ++lines;
    }
    longest = std::max(longest, lines);
  }
  buffers_.lines = longest + locations.size();
}

/// Notes the elements that the writes compose for remote ranks. A later key may have the bucket and
/// the tag of such an element: then that is read to compare the keys, so it needs room as well. A
/// single one needs that room, too: the later key may be one that the operation erases, and
/// `writes` does not name these.
template <fabric::Endpoint E>
void WriteReserve<E>::composed(std::span<const PlannedWrite> writes) {
  for (const PlannedWrite& write : writes) {
    if (write.inlined() && !write.keep_expiry) continue;
    if (ep_.is_local(write.location.rank)) continue;
    const std::uint64_t bytes =
        write.bytes(geometry_.elements()) + (write.keep_expiry ? kExpiryBytes : 0);
    buffers_.composed = std::max(buffers_.composed, bytes);
    need_read(bytes_read_of(class_for(bytes)));
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
