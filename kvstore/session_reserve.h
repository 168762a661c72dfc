// Session<E>: making sure that several writes cannot fail half-way. Included by session_impl.h.
#pragma once

#include <algorithm>

#include "keyway/kvstore/session.h"

namespace keyway::store {

/// An element but for its value, at most: so much fetch() reads of a remote run.
inline constexpr std::uint64_t kLongestHead = layout_bytes(kMaxKeyBytes, 0, true);
static_assert(kLongestHead > kChunkBytes);

/// How many blocks of which size several writes need.
template <fabric::Endpoint E>
class Session<E>::BlockNeeds {
 public:
  void add(std::uint32_t rank, std::uint64_t bytes) {
    const std::uint32_t c = class_for(bytes);
    const std::uint64_t size = c == kRunClass ? run_chunks(bytes) * kChunkBytes : class_bytes(c);
    for (Need& need : needs_) {
      if (need.rank == rank && need.bytes == size) {
        ++need.count;
        return;
      }
    }
    needs_.push_back({rank, size, 1});
  }
  /// Leases them all, or says no. Runs first, the longest before the others: a block finds room in
  /// many places, and may take a chunk of the gap that a run needs.
  bool reserve(Heap<E>& heap) {
    std::sort(needs_.begin(), needs_.end(),
              [](const Need& a, const Need& b) { return a.bytes > b.bytes; });
    for (const Need& need : needs_) {
      if (heap.ensure(need.rank, need.bytes, need.count)) continue;
      heap.note_shortage(shortage_of(need));
      return false;
    }
    // A later ensure() may have given back what an earlier one leased.
    for (const Need& need : needs_) {
      if (heap.ready(need.rank, need.bytes, need.count)) continue;
      heap.note_shortage(shortage_of(need));
      return false;
    }
    return true;
  }

 private:
  struct Need {
    std::uint32_t rank;
    std::uint64_t bytes;  // of the class, or of the whole run
    std::uint64_t count;
  };
  /// For a run, the chunks of all runs of that rank: what is in hand is returned before elements
  /// are moved, so a move makes one gap for them together. Live runs may leave no place for such a
  /// gap: then a move makes one for this run, and the others find theirs elsewhere.
  Shortage shortage_of(const Need& lacking) const {
    if (class_for(lacking.bytes) != kRunClass) return {lacking.rank, 1};
    Shortage all{lacking.rank, 0, run_chunks(lacking.bytes)};
    for (const Need& need : needs_) {
      const bool run = class_for(need.bytes) == kRunClass && need.rank == lacking.rank;
      all.chunks += run ? need.count * run_chunks(need.bytes) : 0;
    }
    return all;
  }

  std::vector<Need> needs_;
};

/// The blocks that the writes need at most. It looks at no element.
template <fabric::Endpoint E>
void Session<E>::need_at_most(BlockNeeds& needs, std::span<const PlannedWrite> writes) const {
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

/// The blocks that the writes need, by a look at each element: none for one that is rewritten where
/// it is.
template <fabric::Endpoint E>
void Session<E>::need_exactly(BlockNeeds& needs, std::span<const PlannedWrite> writes) {
  std::vector<std::string_view> keys;
  for (const PlannedWrite& write : writes) keys.push_back(write.key);
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 0; i < writes.size(); ++i) {
    PlannedWrite write = writes[i];
    const auto named = std::equal_range(keys.begin(), keys.end(), write.key);
    const Location& location = write.location;
    Found found;
    const Code code = with_access(
        location.rank, [&](auto access) { return locate(access, location, write.key, found); });
    // A key that is named twice is not as it is now when its second turn comes.
    if (code != Code::kOk || named.second - named.first > 1) {
      need_at_most(needs, writes.subspan(i, 1));
      continue;
    }
    if (write.keep_expiry && found.live()) write.expires = found.head.expires();
    if (detail::fits_in_place(found, write.key.size(), write.value_bytes, write.expires)) continue;
    if (!write.inlined()) needs.add(location.rank, write.bytes());
    // An entry that replaces one at least as long finds room in that one's line.
    const bool room = found.at != 0 && !(write.inlined() && found.entry.kind() == EntryKind::kHeap);
    if (!room) needs.add(location.rank, kBucketBytes);
  }
}

/// Makes room in this session's memory for all that a change of these keys reads, before the first
/// of them changes (K3): for the chains of their buckets, and for remote elements whose keys are
/// compared with them. The sizes in the lines stay true while the stripes are locked. The first
/// lines of many remote buckets are read in one round trip.
template <fabric::Endpoint E>
void Session<E>::reserve_reads(std::span<const Location> locations) {
  std::size_t longest = 0;
  for (std::size_t from = 0; from < locations.size(); from += kBucketsAhead) {
    const auto part =
        locations.subspan(from, std::min<std::size_t>(kBucketsAhead, locations.size() - from));
    ahead_.resize(part.size());
    bool posted = false;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (ep_.is_local(part[i].rank)) continue;
      ep_.post_read(fabric::rma, geometry_.bucket(part[i].rank, part[i].bucket),
                    std::as_writable_bytes(std::span(ahead_[i].words)));
      posted = true;
    }
    if (posted) ep_.flush_all();
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::size_t lines = with_access(
          part[i].rank, [&](auto access) { return reserve_chain(access, part[i], ahead_[i]); });
      longest = std::max(longest, lines);
    }
  }
  chain_.reserve(longest + locations.size());  // each write may add a line
}

/// The same for one key, whose bucket begins with the line `first`; returns the lines of the chain.
/// Elements in chunks fit a buffer of a chunk; of a run of the same tag fetch() reads as much as a
/// head with the key that is looked for has, whatever is in the run.
template <fabric::Endpoint E>
template <class Access>
std::size_t Session<E>::reserve_chain(Access access, const Location& location,
                                      const Bucket& first) {
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
    fetched_.reserve(kChunkBytes);
    Bucket line = first;
    while (true) {
      for (std::uint32_t i = 1; i < kBucketWords; i += line.entry(i).words()) {
        const EntryWord entry = line.entry(i);
        if (entry.kind() == EntryKind::kEmpty) break;
        if (entry.kind() == EntryKind::kHeap && entry.size_class() == kRunClass &&
            entry.tag() == tag_of(location.hash)) {
          fetched_.reserve(kLongestHead);
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
void Session<E>::reserve_composed(std::span<const PlannedWrite> writes) {
  for (const PlannedWrite& write : writes) {
    if (write.inlined() && !write.keep_expiry) continue;
    if (ep_.is_local(write.location.rank)) continue;
    const std::uint64_t bytes = write.bytes() + (write.keep_expiry ? kExpiryBytes : 0);
    composed_.reserve(bytes);
    if (bytes > kChunkBytes) fetched_.reserve(kLongestHead);
  }
}

/// Leases every block that the writes may need, and makes room for composing them, so that none of
/// them can fail half-way (K3). The stripes are locked.
template <fabric::Endpoint E>
Status Session<E>::reserve_writes(std::span<const PlannedWrite> writes) {
  reserve_composed(writes);
  BlockNeeds most;
  need_at_most(most, writes);
  if (most.reserve(heap_)) return {};
  heap_.return_all();  // what we hold in other classes may be what is missing
  BlockNeeds exact;
  need_exactly(exact, writes);
  if (exact.reserve(heap_)) return {};
  heap_.return_all();  // a failure keeps no room from others
  return {Code::kOutOfSpace,
          fmt::format("the heap has no room for these {} elements at once; nothing was written",
                      writes.size())};
}

}  // namespace keyway::store
