// Walker<E>: visits every element of a bucket, a stripe or a volume.
//
// *What.* A walk reads the first bytes of each element, which contain header, expiry and most keys.
// Only a scan that shows values reads these. It locks one stripe at a time.
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
#include "keyway/locks/base/prefetch.h"
#include "keyway/locks/fabric/fiber.h"
#include "keyway/locks/fabric/with_access.h"

namespace keyway::store {

template <fabric::Endpoint E>
class Walker {
 public:
  /// Elements that are peeked at together: as many as a line has entries.
  static constexpr std::size_t kPeeks = kEntryWords;

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

  /// Reads the first bytes of the elements of these entries, kPeeks at most: on another rank all of
  /// them in one round trip. Local ones are only prefetched.
  template <class Access>
  void peek(Access access, std::uint32_t rank, std::span<const EntryWord> entries);
  /// The entry of a line at found.at, which has been peeked at as the i-th, with its element but
  /// for the value. Whether that is past is for the caller to ask. kCorruption.
  template <class Access>
  Code look(Access access, std::uint32_t rank, const Bucket& line, std::size_t i, Found& found);

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
  // This many bytes of an element contain header, expiry, and most keys.
  static constexpr std::uint64_t kPeekBytes = 64;

  std::span<std::byte> peeked_at(std::size_t i, EntryWord entry);

  E& ep_;
  const Geometry& geometry_;
  StripeGate<E>& gate_;
  OperationClock<E>& clock_;
  ElementReader<E>& reader_;
  BucketChain<E>& chain_;
  Heap<E>& heap_;
  FreedBlocks<E>& freed_;
  // The first bytes of the remote elements of a line.
  std::array<std::array<std::byte, kPeekBytes>, kPeeks> peeked_{};
};

/// The buffer that the first bytes of the i-th of these elements are read to.
template <fabric::Endpoint E>
std::span<std::byte> Walker<E>::peeked_at(std::size_t i, EntryWord entry) {
  const std::uint64_t block =
      entry.size_class() == kRunClass ? kChunkBytes : class_bytes(entry.size_class());
  return std::span(peeked_[i]).first(std::min(kPeekBytes, block));
}

template <fabric::Endpoint E>
template <class Access>
void Walker<E>::peek([[maybe_unused]] Access access, std::uint32_t rank,
                     std::span<const EntryWord> entries) {
  const auto post = [&] {
    bool posted = false;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].kind() != EntryKind::kHeap) continue;
      const fabric::Address at{rank, entries[i].offset()};
      posted = true;
      if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
        prefetch_line(ep_.view(at));
      } else {
        ep_.post_read(access, at, peeked_at(i, entries[i]));
      }
    }
    return posted;
  };
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    post();
  } else if (clock_.wants_words()) {
    clock_.read_with_words(rank, post);
  } else if (post()) {
    ep_.flush(rank);
  }
}

template <fabric::Endpoint E>
template <class Access>
Code Walker<E>::look([[maybe_unused]] Access access, std::uint32_t rank, const Bucket& line,
                     [[maybe_unused]] std::size_t i, Found& found) {
  found.entry = line.entry(found.at);
  if (found.entry.kind() == EntryKind::kInline) {
    found.take_inline(line);
    return Code::kOk;
  }
  const fabric::Address at{rank, found.entry.offset()};
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    const std::byte* start = ep_.view(at);
    found.take({start, element_bytes_from_header({start, kElementHeaderBytes})});
  } else {
    const auto peeked = peeked_at(i, found.entry);
    const ElementHeader header = ElementHeader::of(peeked);
    if (!reader_.is_within(found.entry, header)) return Code::kCorruption;
    if (header.total() <= peeked.size() && !element_intact(geometry_.sum_seed(), peeked))
      return Code::kCorruption;
    const bool long_key = header.head_bytes() > peeked.size();
    found.take(long_key ? reader_.read(access, at, header.head_bytes())
                        : std::span<const std::byte>(peeked));
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
  for (std::uint32_t line = 0; line < lines.size(); ++line) {
    const Bucket read = lines[line].bucket;  // visit() may take entries out of the line
    std::array<EntryWord, kPeeks> entries;
    std::size_t n = 0;
    for (std::uint32_t i = 1; i < kBucketWords; i += read.entry(i).words()) {
      if (read.entry(i).kind() == EntryKind::kEmpty) break;
      entries[n++] = read.entry(i);
    }
    peek(access, rank, std::span(entries).first(n));
    std::uint16_t at = 1;
    std::uint16_t now_at = 1;
    for (std::size_t i = 0; i < n; at += entries[i++].words()) {
      Found found{.line = line, .at = at};
      if (const Code code = look(access, rank, read, i, found); code != Code::kOk) {
        return Status(code);
      }
      found.at = now_at;
      if (visit(found)) now_at += entries[i].words();
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
