// Session<E>: walks over a volume: clears and reports. Included by session_impl.h. Sweeps are in
// session_sweep.h, scans in session_scan.h.
//
// A walk peeks at elements: of each it reads the first bytes, which hold header, expiry and most
// keys. Only a scan that shows values reads these.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "keyway/kvstore/session.h"
#include "keyway/locks/base/prefetch.h"
#include "keyway/locks/fabric/fiber.h"
#include "keyway/locks/fabric/time_slice.h"

namespace keyway::store {

/// Stripes whose counters are read at once.
inline constexpr std::uint64_t kCountersAhead = 32;

/// Reads a bucket's own line. From another node, with those behind it in its stripe, which a walk
/// asks for next: a round trip for many. They hold for as long as the stripe is locked.
template <fabric::Endpoint E>
template <class Access>
void Session<E>::read_ahead(Access access, std::uint32_t rank, std::uint64_t bucket, Bucket& out) {
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    ep_.read(access, geometry_.bucket(rank, bucket), std::as_writable_bytes(std::span(out.words)));
  } else {
    if (bucket < ahead_from_ || bucket - ahead_from_ >= ahead_.size()) {
      const std::uint64_t end = geometry_.stripe_end(geometry_.stripe_of(bucket));
      ahead_.resize(std::min(kBucketsAhead, end - bucket));
      ahead_from_ = bucket;
      ep_.read(access, geometry_.bucket(rank, bucket), std::as_writable_bytes(std::span(ahead_)));
    }
    out = ahead_[bucket - ahead_from_];
  }
}

/// Reads a bucket's whole chain into chain_. The stripe is locked.
template <fabric::Endpoint E>
template <class Access>
void Session<E>::read_chain(Access access, std::uint32_t rank, std::uint64_t bucket) {
  chain_.clear();
  Line& head = chain_.emplace_back();
  head.at = geometry_.bucket(rank, bucket);
  read_ahead(access, rank, bucket, head.bucket);
  for (std::uint64_t link = head.bucket.link(); link != 0;) {
    Line& fresh = chain_.emplace_back();
    fresh.at = {rank, link};
    ep_.read(access, fresh.at, std::as_writable_bytes(std::span(fresh.bucket.words)));
    link = fresh.bucket.link();
  }
}

/// Reads the first bytes of the elements of these entries, kPeeks at most: of another rank all of
/// them in one round trip. Local ones are only asked for.
template <fabric::Endpoint E>
template <class Access>
void Session<E>::peek([[maybe_unused]] Access access, std::uint32_t rank,
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
        ep_.post_read(access, at, peek_of(i, entries[i]));
      }
    }
    return posted;
  };
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    post();
  } else if (wants_words()) {
    read_with_words(rank, post);
  } else if (post()) {
    ep_.flush(rank);
  }
}

/// The buffer that the first bytes of the i-th of these elements are read to.
template <fabric::Endpoint E>
std::span<std::byte> Session<E>::peek_of(std::size_t i, EntryWord entry) {
  const std::uint64_t block =
      entry.size_class() == kRunClass ? kChunkBytes : class_bytes(entry.size_class());
  return std::span(peeked_[i]).first(std::min(detail::kPeekBytes, block));
}

/// The entry of a line at found.at, which has been peeked at as the i-th, with its element but for
/// the value. Whether that is past is for the caller to ask. kCorruption.
template <fabric::Endpoint E>
template <class Access>
Code Session<E>::look([[maybe_unused]] Access access, std::uint32_t rank, const Bucket& line,
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
    const auto peeked = peek_of(i, found.entry);
    const ElementHeader header = ElementHeader::of(peeked);
    if (!is_within(found.entry, header)) return Code::kCorruption;
    if (header.total() <= peeked.size() && !element_intact(peeked)) return Code::kCorruption;
    if (header.head_bytes() > peeked.size()) {  // a long key
      fetched_.resize(header.head_bytes());
      ep_.read(access, at, fetched_);
      found.take(fetched_);
    } else {
      found.take(peeked);
    }
  }
  expects_expiry_ = found.head.expires();
  return Code::kOk;
}

/// Visits the entries of a bucket's chain, without their values. visit(found) returns true to go on
/// at the next entry, false when it has removed the one it was shown. The stripe is locked.
template <fabric::Endpoint E>
template <class Access, class Visit>
Status Session<E>::walk_bucket(Access access, std::uint32_t rank, std::uint64_t bucket,
                               Visit&& visit) {
  read_chain(access, rank, bucket);
  detail::reserve_more(garbage_, chain_.size() * kBucketWords);  // K3, should visit() remove
  for (std::uint32_t line = 0; line < chain_.size(); ++line) {
    const Bucket read = chain_[line].bucket;  // visit() may take entries out of the line
    std::array<EntryWord, detail::kPeeks> entries;
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

/// Frees what an operation has dropped when it goes, also by an exception: after the locks (K4).
template <fabric::Endpoint E>
class Session<E>::CollectLater {
 public:
  explicit CollectLater(Session& session) : session_(session) {}
  CollectLater(const CollectLater&) = delete;
  CollectLater& operator=(const CollectLater&) = delete;
  ~CollectLater() { session_.collect_garbage(); }

 private:
  Session& session_;
};

/// Visits every bucket of a stripe: visit(access, bucket) with the stripe locked in `mode`.
template <fabric::Endpoint E>
template <class Visit>
Status Session<E>::walk_stripe(std::uint32_t rank, std::uint64_t stripe, locks::Mode mode,
                               Visit&& visit) {
  auto grant = lock_stripe(rank, stripe, mode, deadline_);
  if (!grant.ok()) return grant.status();
  begin_time(rank);
  ahead_.clear();
  const CollectLater garbage(*this);
  const Hold held(*this, rank, stripe, *grant);
  const std::uint64_t end = geometry_.stripe_end(stripe);
  Status status;
  for (std::uint64_t bucket = stripe == 0 ? 0 : geometry_.stripe_end(stripe - 1);
       bucket < end && status.ok(); ++bucket) {
    status = with_access(rank, [&](auto access) { return visit(access, bucket); });
  }
  return status;
}

/// The same of every stripe of a rank. Siblings of a fiber have their turn between stripes: a walk
/// of a whole table is long.
template <fabric::Endpoint E>
template <class Visit>
Status Session<E>::walk_volume(std::uint32_t rank, locks::Mode mode, Visit&& visit) {
  Status status;
  for (std::uint64_t stripe = 0; stripe < geometry_.stripes() && status.ok(); ++stripe) {
    status = walk_stripe(rank, stripe, mode, visit);
    fabric::this_fiber::give_turn();
  }
  return status;
}

/// Removes the elements of a bucket for which goes(found) is true, and adds their number to
/// `removed`. If the walk fails half-way, also for lack of memory, the entries that it has dropped
/// by then still leave the bucket: their blocks are garbage already (K4). The stripe is locked for
/// writing.
template <fabric::Endpoint E>
template <class Access, class Goes>
Status Session<E>::remove_in_bucket(Access access, std::uint32_t rank, std::uint64_t bucket,
                                    Goes&& goes, std::uint64_t& removed) {
  std::uint64_t dropped = 0;
  const auto visit = [&](const Found& found) {
    if (!goes(found)) return true;
    drop_entry(rank, found);
    ++dropped;
    return false;
  };
  const auto end = [&] {
    if (dropped > 0) end_walked_bucket(access, rank, bucket, dropped);
    removed += dropped;
  };
  Status walked;
  try {
    walked = walk_bucket(access, rank, bucket, visit);
  } catch (const std::bad_alloc&) {
    end();
    throw;
  }
  end();
  return walked;
}

/// Writes back a bucket of which a walk has dropped so many entries. Allocates nothing.
template <fabric::Endpoint E>
template <class Access>
void Session<E>::end_walked_bucket(Access access, std::uint32_t rank, std::uint64_t bucket,
                                   std::uint64_t dropped) {
  for (std::uint32_t line = static_cast<std::uint32_t>(chain_.size()); line-- > 1;) {
    unlink_if_empty(rank, line);
  }
  const Location location{.bucket = bucket, .stripe = geometry_.stripe_of(bucket), .rank = rank};
  commit(access, location);
  ep_.flush(rank);
  count_elements(location, -static_cast<std::int64_t>(dropped));
}

/// Erases everything, stripe by stripe.
template <fabric::Endpoint E>
Status Session<E>::clear() {
  for (std::uint32_t rank = 0; rank < ep_.ranks(); ++rank) {
    if (Status status = clear_rank(rank); !status.ok()) return status;
  }
  return {};
}

template <fabric::Endpoint E>
Status Session<E>::clear_rank(std::uint32_t rank) {
  std::uint64_t removed = 0;
  const auto all = [](const Found&) { return true; };
  return walk_volume(rank, locks::Mode::kWrite, [&](auto access, std::uint64_t bucket) {
    return remove_in_bucket(access, rank, bucket, all, removed);
  });
}

/// Calls body() with every stripe of the store held for writing: what it does by this session takes
/// no more locks, and nobody else sees it half done. It may not switch locks.
template <fabric::Endpoint E>
Status Session<E>::alone(FunctionRef<void()> body) {
  KW_CHECK(!alone_);
  std::vector<Location> everywhere;
  everywhere.reserve(ep_.ranks() * geometry_.stripes());
  for (std::uint32_t rank = 0; rank < ep_.ranks(); ++rank) {
    for (std::uint64_t stripe = 0; stripe < geometry_.stripes(); ++stripe) {
      everywhere.push_back({.stripe = stripe, .rank = rank});
    }
  }
  StripeSet stripes(*this, everywhere);
  if (auto status = stripes.acquire(locks::Mode::kWrite); !status.ok()) return status;
  const std::unique_ptr<bool, void (*)(bool*)> until_end(&alone_,
                                                         [](bool* alone) { *alone = false; });
  alone_ = true;
  body();
  return {};
}

/// Adds up counters, and the state of each chunk of the heap; counts() does without the chunks.
template <fabric::Endpoint E>
VolumeUsage Session<E>::usage(std::uint32_t rank) {
  VolumeUsage usage{counts(rank)};
  usage.stripes = geometry_.stripes();
  usage.table_bytes = geometry_.buckets() * kBucketBytes;
  usage.lock_bytes = geometry_.lock_bytes();
  usage.segment_bytes = geometry_.segment_bytes();
  usage.heap = heap_.usage(rank);
  return usage;
}

/// It costs a load for each stripe, whatever the size of the memory.
template <fabric::Endpoint E>
VolumeCounts Session<E>::counts(std::uint32_t rank) {
  VolumeCounts counts{.elements = size_of(rank)};
  with_access(rank, [&](auto access) {
    const fabric::Address header = geometry_.header(rank);
    counts.expiring = ep_.load(access, header + kExpiringOffset);
    const std::uint64_t noted = ep_.load(access, header + kLongestChainOffset);
    counts.longest_chain_lines = std::max<std::uint64_t>(noted, 1);
  });
  return counts;
}

/// Elements of all ranks, those past their expiry and not yet swept included. The sum of counters
/// that go on changing while it is taken.
template <fabric::Endpoint E>
std::uint64_t Session<E>::size() {
  std::uint64_t total = 0;
  for (std::uint32_t rank = 0; rank < ep_.ranks(); ++rank) total += size_of(rank);
  return total;
}

/// On a remote rank it costs a round trip for kCountersAhead stripes.
template <fabric::Endpoint E>
std::uint64_t Session<E>::size_of(std::uint32_t rank) {
  return with_access(rank, [&](auto access) {
    std::uint64_t total = 0;
    if constexpr (std::is_same_v<decltype(access), fabric::CpuClass>) {
      for (std::uint64_t stripe = 0; stripe < geometry_.stripes(); ++stripe) {
        total += ep_.load(access, geometry_.stripe_counters(rank, stripe));
      }
    } else {
      std::array<fabric::Pending, kCountersAhead> pending;
      for (std::uint64_t from = 0; from < geometry_.stripes(); from += kCountersAhead) {
        const std::uint64_t n = std::min(kCountersAhead, geometry_.stripes() - from);
        for (std::uint64_t i = 0; i < n; ++i) {
          pending[i] = ep_.post_load(access, geometry_.stripe_counters(rank, from + i));
        }
        const fabric::Flushed flushed = ep_.flush(rank);
        for (std::uint64_t i = 0; i < n; ++i) total += pending[i].value(flushed);
      }
    }
    return total;
  });
}

template <fabric::Endpoint E>
Result<VolumeReport> Session<E>::report(std::uint32_t rank) {
  VolumeReport report;
  Status status = walk_volume(rank, locks::Mode::kRead, [&](auto access, std::uint64_t bucket) {
    Status walked = walk_bucket(access, rank, bucket, [&](const Found& found) {
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
    report.longest_chain_lines = std::max<std::uint64_t>(report.longest_chain_lines, chain_.size());
    for (std::uint32_t line = 1; line < chain_.size(); ++line) {
      ++report.overflow_buckets;
      report.live_bytes +=
          heap_.span({chain_[line].at.offset(), class_for(kBucketBytes)}, kBucketBytes);
    }
    return walked;
  });
  if (!status.ok()) return status;
  report.table_bytes = geometry_.buckets() * kBucketBytes;
  report.heap = heap_.report(rank);
  return report;
}

}  // namespace keyway::store
