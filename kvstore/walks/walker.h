// Walker<E>: visits every element of a bucket, a stripe or a volume.
//
// *What.* A walk reads the first bytes of each element, which contain header, expiry and most keys.
// Only a scan that shows values reads these. It locks one stripe at a time.
// *Round trips.* On another rank, for up to kBucketsAhead buckets of a stripe: one for their own
// lines, one for their second lines, and so on; one for each kPeeks elements; and one for each
// longer key or value, and each run that a report counts.
// *Thread safety.* One session's.
// *Invariants.* Those of session.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <span>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/stripes/stripe_gate.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/kvstore/volume/bucket_chain.h"
#include "keyway/kvstore/volume/element_reader.h"
#include "keyway/kvstore/volume/freed_blocks.h"
#include "keyway/kvstore/volume/operation_clock.h"
#include "keyway/kvstore/walks/element_peeks.h"
#include "keyway/locks/base/check.h"
#include "keyway/locks/base/prefetch.h"
#include "keyway/locks/fabric/fiber.h"
#include "keyway/locks/fabric/with_access.h"

namespace keyway::store {

template <fabric::Endpoint E>
class Walker {
 public:
  /// Elements that are peeked at in one round trip, at most.
  static constexpr std::size_t kPeeks = 128;
  /// This many bytes of an element contain header, expiry, and most keys.
  static constexpr std::uint64_t kPeekBytes = 64;

  /// How a walk looks at the elements of another rank.
  struct Peek {
    std::size_t most = kPeeks;  // elements that it will need, buckets behind included
    std::uint64_t whole = 0;    // blocks up to this size are read as a whole
  };

  Walker(E& ep, const Geometry& geometry, StripeGate<E>& gate, OperationClock<E>& clock,
         ElementReader<E>& reader, BucketChain<E>& chain, Heap<E>& heap, FreedBlocks<E>& freed)
      : ep_(ep),
        geometry_(geometry),
        gate_(gate),
        clock_(clock),
        reader_(reader),
        chain_(chain),
        heap_(heap),
        freed_(freed) {}
  Walker(const Walker&) = delete;
  Walker& operator=(const Walker&) = delete;

  /// Locks a stripe in `mode` as a separate operation, and calls body(), which returns a Status.
  template <class Body>
  Status in_stripe(std::uint32_t rank, std::uint64_t stripe, locks::Mode mode, Body&& body);
  /// Visits every bucket of a stripe: visit(access, bucket) with the stripe locked in `mode`.
  template <class Visit>
  Status stripe(std::uint32_t rank, std::uint64_t stripe, locks::Mode mode, Visit&& visit);
  /// The same for every stripe of a rank. Siblings of a fiber have their turn between stripes: a
  /// walk of a whole table is long.
  template <class Visit>
  Status volume(std::uint32_t rank, locks::Mode mode, Visit&& visit);
  /// Visits the entries of a bucket's chain, without their values. visit(found) returns true to
  /// continue at the next entry, false if it has removed this one. The stripe is locked.
  template <class Access, class Visit>
  Status bucket(Access access, std::uint32_t rank, std::uint64_t bucket, Visit&& visit);
  /// Removes the elements of a bucket for which goes(found) is true, and adds their number to
  /// `removed`. If the walk fails half-way, also for lack of memory, the entries that it has
  /// dropped by then still leave the bucket: their blocks are free already (K4). The stripe is
  /// locked for writing.
  template <class Access, class Goes>
  Status remove(Access access, std::uint32_t rank, std::uint64_t bucket, Goes&& goes,
                std::uint64_t& removed);

  /// Removes all elements of a rank, stripe by stripe.
  Status clear(std::uint32_t rank);
  /// Counts the elements of a rank and their blocks; the caller adds the table and the heap.
  Result<VolumeReport> report(std::uint32_t rank);

  /// Reads the first bytes of the elements of these entries of a bucket, kPeeks at most: on another
  /// rank all of them in one round trip, together with elements of the buckets behind it. Local
  /// ones are only prefetched.
  template <class Access>
  void peek(Access access, std::uint32_t rank, std::uint64_t bucket,
            std::span<const EntryWord> entries, const Peek& how);
  /// The entry of a line at found.at, which has been peeked at, with its element, and its value if
  /// that was read. The caller asks whether it is past. kCorruption.
  template <class Access>
  Code look(Access access, std::uint32_t rank, const Bucket& line, Found& found);

 private:
  /// Frees what an operation has dropped when it goes, also by an exception: after the locks (K4).
  class CollectLater {
   public:
    explicit CollectLater(FreedBlocks<E>& freed) : freed_(freed) {}
    CollectLater(const CollectLater&) = delete;
    CollectLater& operator=(const CollectLater&) = delete;
    ~CollectLater() noexcept(false) { freed_.collect(); }

   private:
    FreedBlocks<E>& freed_;
  };
  void add_peek(EntryWord entry, const Peek& how);
  void add_ahead(std::uint64_t bucket, const Peek& how);
  bool collect_ahead(const Bucket& own_line);
  static void collect(const Bucket& line, std::vector<EntryWord>& entries) {
    line.for_each_entry([&](std::uint32_t, EntryWord entry) { entries.push_back(entry); });
  }
  bool is_peeked_at(EntryWord entry) const;
  /// A chunk for a run, 0 for a class that there is not.
  static std::uint64_t block_bytes(EntryWord entry) {
    if (entry.size_class() == kRunClass) return kChunkBytes;
    return entry.size_class() < kClasses ? class_bytes(entry.size_class()) : 0;
  }

  E& ep_;
  const Geometry& geometry_;
  StripeGate<E>& gate_;
  OperationClock<E>& clock_;
  ElementReader<E>& reader_;
  BucketChain<E>& chain_;
  Heap<E>& heap_;
  FreedBlocks<E>& freed_;
  ElementPeeks<E> peeks_;           // elements of the locked stripe
  std::vector<EntryWord> entries_;  // the current bucket's
  std::vector<EntryWord> ahead_;    // those of a bucket behind it
};

/// Whether the entry can refer to an element. look() reports one that cannot.
template <fabric::Endpoint E>
bool Walker<E>::is_peeked_at(EntryWord entry) const {
  if (entry.kind() != EntryKind::kHeap) return false;
  const std::uint64_t bytes = block_bytes(entry);
  return bytes != 0 && entry.offset() + bytes <= geometry_.segment_bytes();
}

template <fabric::Endpoint E>
void Walker<E>::add_peek(EntryWord entry, const Peek& how) {
  if (!is_peeked_at(entry)) return;
  const std::uint64_t block = block_bytes(entry);
  const bool all = block <= std::max(how.whole, kPeekBytes);
  peeks_.add(entry, all ? block : kPeekBytes);
}

/// Adds elements of the buckets behind this one, as far as their lines have been read: all of a
/// bucket or none, since it would be peeked at again.
template <fabric::Endpoint E>
void Walker<E>::add_ahead(std::uint64_t bucket, const Peek& how) {
  for (const Bucket& line : chain_.ahead_of(bucket)) {
    if (peeks_.size() >= how.most) return;
    if (!collect_ahead(line) || peeks_.size() + ahead_.size() > kPeeks) return;
    for (const EntryWord entry : ahead_) add_peek(entry, how);
  }
}

/// Collects the entries of a bucket behind the current one. False if a line has not been read.
template <fabric::Endpoint E>
bool Walker<E>::collect_ahead(const Bucket& own_line) {
  ahead_.clear();
  const Bucket* line = &own_line;
  for (std::uint64_t i = 0; line != nullptr && i < kBucketsAhead; ++i) {  // links may be damaged
    collect(*line, ahead_);
    if (line->link() == 0) return true;
    line = chain_.linked_ahead(*line);
  }
  return false;
}

template <fabric::Endpoint E>
template <class Access>
void Walker<E>::peek([[maybe_unused]] Access access, std::uint32_t rank,
                     [[maybe_unused]] std::uint64_t bucket, std::span<const EntryWord> entries,
                     [[maybe_unused]] const Peek& how) {
  const auto in_heap = [](EntryWord entry) { return entry.kind() == EntryKind::kHeap; };
  KW_DCHECK(entries.size() <= kPeeks);
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    for (const EntryWord entry : entries) {
      if (in_heap(entry)) prefetch_line(ep_.view({rank, entry.offset()}));
    }
  } else {
    const auto is_missing = [&](EntryWord entry) {
      return is_peeked_at(entry) && peeks_.of(entry).empty();
    };
    if (std::none_of(entries.begin(), entries.end(), is_missing)) return;
    peeks_.clear();
    for (const EntryWord entry : entries) add_peek(entry, how);
    add_ahead(bucket, how);
    if (clock_.wants_words()) {
      clock_.read_with_words(rank, [&] { peeks_.post(ep_, rank); });
    } else {
      peeks_.post(ep_, rank);
      ep_.flush(rank);
    }
  }
}

template <fabric::Endpoint E>
template <class Access>
Code Walker<E>::look([[maybe_unused]] Access access, std::uint32_t rank, const Bucket& line,
                     Found& found) {
  found.entry = line.entry(found.at);
  if (found.entry.kind() == EntryKind::kInline) {
    found.take_inline(line);
    return Code::kOk;
  }
  const fabric::Address at{rank, found.entry.offset()};
  const ElementFormat& format = geometry_.elements();
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    const std::byte* start = ep_.view(at);
    const auto header = ElementHeader::of(format, {start, format.header_bytes()});
    found.take(format, {start, header.total()});
  } else {
    const auto peeked = peeks_.of(found.entry);
    if (peeked.size() < format.header_bytes()) return Code::kCorruption;
    const auto header = ElementHeader::of(format, peeked);
    if (!reader_.is_within(found.entry, header)) return Code::kCorruption;
    if (header.total() <= peeked.size() && !element_intact(format, peeked))
      return Code::kCorruption;
    const bool long_key = header.head_bytes() > peeked.size();
    found.take(format, long_key ? reader_.read(access, at, header.head_bytes()) : peeked);
  }
  clock_.expect_expiry(found.head.expires());
  return Code::kOk;
}

template <fabric::Endpoint E>
template <class Access, class Visit>
Status Walker<E>::bucket(Access access, std::uint32_t rank, std::uint64_t bucket, Visit&& visit) {
  chain_.read_whole(access, rank, bucket);
  const auto lines = chain_.lines();
  freed_.reserve(lines.size() * kBucketWords);  // K3, should visit() remove
  std::uint32_t peeked = 0;                     // lines
  for (std::uint32_t line = 0; line < lines.size(); ++line) {
    if (line == peeked) {
      entries_.clear();
      while (peeked < lines.size() && entries_.size() + kEntryWords <= kPeeks) {
        collect(lines[peeked++].bucket, entries_);
      }
      peek(access, rank, bucket, entries_, {});
    }
    const Bucket read = lines[line].bucket;  // visit() may take entries out of the line
    const std::uint32_t end = read.used();
    std::uint16_t now_at = 1;
    for (std::uint16_t at = 1; at < end; at += read.entry(at).words()) {
      Found found{.line = line, .at = at};
      if (const Code code = look(access, rank, read, found); code != Code::kOk) {
        return Status(code);
      }
      found.at = now_at;
      if (visit(found)) now_at += read.entry(at).words();
    }
  }
  return {};
}

template <fabric::Endpoint E>
template <class Body>
Status Walker<E>::in_stripe(std::uint32_t rank, std::uint64_t stripe, locks::Mode mode,
                            Body&& body) {
  if (Status status = gate_.reach(rank, mode); !status.ok()) return status;
  auto grant = gate_.acquire(rank, stripe, mode);
  if (!grant.ok()) return grant.status();
  clock_.begin(rank);
  chain_.forget_ahead();
  peeks_.clear();
  const CollectLater garbage(freed_);
  const StripeGuard<E> held(gate_, rank, stripe, *grant);
  return body();
}

template <fabric::Endpoint E>
template <class Visit>
Status Walker<E>::stripe(std::uint32_t rank, std::uint64_t stripe, locks::Mode mode,
                         Visit&& visit) {
  return in_stripe(rank, stripe, mode, [&] {
    const std::uint64_t end = geometry_.stripe_end(stripe);
    Status status;
    for (std::uint64_t bucket = geometry_.stripe_begin(stripe); bucket < end && status.ok();
         ++bucket) {
      status = fabric::with_access(ep_, rank, [&](auto access) { return visit(access, bucket); });
    }
    return status;
  });
}

template <fabric::Endpoint E>
template <class Visit>
Status Walker<E>::volume(std::uint32_t rank, locks::Mode mode, Visit&& visit) {
  Status status;
  for (std::uint64_t stripe = 0; stripe < geometry_.stripes() && status.ok(); ++stripe) {
    status = this->stripe(rank, stripe, mode, visit);
    fabric::this_fiber::yield_now();
  }
  return status;
}

template <fabric::Endpoint E>
template <class Access, class Goes>
Status Walker<E>::remove(Access access, std::uint32_t rank, std::uint64_t bucket, Goes&& goes,
                         std::uint64_t& removed) {
  const Location location = location_of(geometry_, rank, bucket);
  std::uint64_t dropped = 0;
  const auto visit = [&](const Found& found) {
    if (!goes(found)) return true;
    chain_.remove(location, found);
    ++dropped;
    return false;
  };
  const auto end = [&] {
    if (dropped > 0) chain_.end_removals(access, location);
    removed += dropped;
  };
  Status walked;
  try {
    walked = this->bucket(access, rank, bucket, visit);
  } catch (const std::bad_alloc&) {
    end();
    throw;
  }
  end();
  return walked;
}

template <fabric::Endpoint E>
Status Walker<E>::clear(std::uint32_t rank) {
  std::uint64_t removed = 0;
  const auto all = [](const Found&) { return true; };
  return volume(rank, locks::Mode::kWrite, [&](auto access, std::uint64_t bucket) {
    return remove(access, rank, bucket, all, removed);
  });
}

template <fabric::Endpoint E>
Result<VolumeReport> Walker<E>::report(std::uint32_t rank) {
  VolumeReport report;
  Status status = volume(rank, locks::Mode::kRead, [&](auto access, std::uint64_t bucket) {
    Status walked = this->bucket(access, rank, bucket, [&](const Found& found) {
      ++report.elements;
      report.expiring += found.head.expires() ? 1 : 0;
      report.key_bytes += found.head.key.size();
      report.value_bytes += found.head.value_bytes;
      if (found.entry.kind() == EntryKind::kHeap) {
        const Block block{found.entry.offset(), found.entry.size_class()};
        report.live_bytes += heap_.span(block, heap_.capacity(rank, block));
      }
      return true;
    });
    const auto lines = chain_.lines();
    report.longest_chain_lines = std::max<std::uint64_t>(report.longest_chain_lines, lines.size());
    report.overflow_buckets += lines.size() - 1;
    for (const Line& line : lines.subspan(1)) {
      report.live_bytes += heap_.span({line.at.offset(), class_for(kBucketBytes)}, kBucketBytes);
    }
    return walked;
  });
  if (!status.ok()) return status;
  return report;
}

}  // namespace keyway::store
