// Session<E>: making sure that several writes cannot fail half-way. Included by session_impl.h.
#pragma once

#include <algorithm>

#include "keyway/kvstore/session.h"

namespace keyway::store {

/// A write of a multi-key operation, as far as the heap is concerned.
template <fabric::Endpoint E>
struct Session<E>::PlannedWrite {
  Location location;
  std::string_view key;
  std::uint64_t value_bytes = 0;
  bool expires = false;
  bool keep_expiry = false;  // as the element that is there does, if any

  bool inlined() const { return !expires && key.size() + value_bytes <= kInlineBytes; }
  std::uint64_t bytes() const { return element_bytes(key.size(), value_bytes, expires); }
};

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
  /// Leases them all, or says no.
  bool reserve(Heap<E>& heap) const {
    for (const Need& need : needs_) {
      if (!heap.ensure(need.rank, need.bytes, need.count)) return false;
    }
    // A later ensure() may have given back what an earlier one leased.
    return std::all_of(needs_.begin(), needs_.end(), [&](const Need& need) {
      return heap.ready(need.rank, need.bytes, need.count);
    });
  }

 private:
  struct Need {
    std::uint32_t rank;
    std::uint64_t bytes;  // of the class, or of the whole run
    std::uint64_t count;
  };
  std::vector<Need> needs_;
};

/// What the writes can need at most: no element is looked at for this.
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

/// What they do need, from a look at each element: nothing for what can be rewritten where it is.
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
    if (write.keep_expiry && found.live()) write.expires = found.element.expires_at_ms != kNoExpiry;
    if (fits_in_place(found, write.key.size(), write.value_bytes, write.expires)) continue;
    if (!write.inlined()) needs.add(location.rank, write.bytes());
    // An entry that replaces one at least as long finds room in that one's line.
    const bool room = found.at != 0 && !(write.inlined() && found.entry.kind() == EntryKind::kHeap);
    if (!room) needs.add(location.rank, kBucketBytes);
  }
}

/// Leases every block that the writes may need, so that none of them can fail half-way (K3). The
/// stripes are locked.
template <fabric::Endpoint E>
Status Session<E>::reserve_writes(std::span<const PlannedWrite> writes) {
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
