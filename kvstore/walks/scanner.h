// Scanner<E>: scans by cursors.
//
// *Why.* Between two steps of a scan, lines and entries of a chain move. A cursor that stops within
// a long chain therefore names a tag instead of a line.
// *Thread safety.* One session's.
// *Invariants.*
//   S1  The place of an element in the order of scans is (rank, bucket, high bits of the tag). The
//       place depends on the key and on the store's secret only, so no write moves an element.
//   S2  Under one grant of a stripe's lock, a step shows all live elements from the cursor's place
//       on, up to the next cursor's place, and elements of one place together. So the steps of a
//       scan cover all places without gap or overlap, and show each element that stays throughout
//       exactly once. Redis SCAN guarantees at least once.
//   S3  Under one grant, a step reads each line of a chain once, as a get of an absent key does,
//       and copies at most `limit` elements and the rest of the last place. A scan of keys reads no
//       values: it peeks at an element, and reads the rest of a longer key. Two elements of a
//       bucket share a place with a probability of 2^-14 (2^-11 in a table of 8 TiB).
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/kvstore/walks/walker.h"
#include "keyway/locks/base/function_ref.h"

namespace keyway::store {

/// A scan shows keys only, or elements with their values.
enum class Shown : std::uint8_t { kKeys, kElements };
/// Without a value where only keys are shown.
using ScanSink = FunctionRef<void(std::string_view key, std::string_view value)>;

template <fabric::Endpoint E>
class Scanner {
 public:
  Scanner(E& ep, const Geometry& geometry, OperationClock<E>& clock, ElementReader<E>& reader,
          BucketChain<E>& chain, Walker<E>& walker)
      : ep_(ep),
        geometry_(geometry),
        clock_(clock),
        reader_(reader),
        chain_(chain),
        walker_(walker) {}
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  /// Shows elements of all ranks from a cursor on; returns the cursor to continue from, 0 at the
  /// end. A cursor may be any word that a client has sent.
  Result<std::uint64_t> scan(std::uint64_t cursor, std::uint64_t limit, Shown shown, ScanSink sink);
  /// The same for one rank.
  Result<std::uint64_t> scan_rank(std::uint32_t rank, std::uint64_t cursor, std::uint64_t limit,
                                  Shown shown, ScanSink sink);
  /// Elements from a key's place on, from the key on where it is there; returns how many.
  Result<std::uint64_t> scan_from(std::string_view key, const Location& location,
                                  std::uint64_t limit, Shown shown, ScanSink sink);

 private:
  /// A scan of elements reads blocks up to this size at once: 64 KiB for Walker::kPeeks.
  static constexpr std::uint64_t kWholeBytes = 512;

  // An entry of the chain that has not been shown yet. It begins at word `entry` of the line.
  struct Unshown {
    std::uint32_t tag = 0;  // as Geometry::cursor_tag() has it
    std::uint32_t line = 0;
    std::uint32_t entry = 0;

    auto operator<=>(const Unshown&) const = default;
  };

  void collect_unshown(std::uint64_t from_tag);
  template <class Access>
  Code copy(Access access, std::uint32_t rank, const Unshown& next, Shown shown,
            std::string_view from, std::size_t before);
  template <class Access>
  Status scan_bucket(Access access, std::uint32_t rank, ScanPlace& at, std::uint64_t most,
                     std::string_view from, Shown shown);
  Status scan_stripe(std::uint32_t rank, ScanPlace& at, std::uint64_t most, std::string_view from,
                     Shown shown);
  Result<std::uint64_t> scan_at(std::uint64_t cursor, std::uint64_t limit, std::string_view from,
                                std::uint32_t end_rank, Shown shown, ScanSink sink);

  E& ep_;
  const Geometry& geometry_;
  OperationClock<E>& clock_;
  ElementReader<E>& reader_;
  BucketChain<E>& chain_;
  Walker<E>& walker_;
  std::vector<Unshown> unshown_;  // entries of a bucket, a heap
  std::vector<Unshown> next_;     // and those that are shown now
  std::vector<EntryWord> entries_;
  std::vector<std::pair<std::string, std::string>> scanned_;
};

/// Makes unshown_ a heap of the chain's entries from a tag on, the first one in front.
template <fabric::Endpoint E>
void Scanner<E>::collect_unshown(std::uint64_t from_tag) {
  unshown_.clear();
  const auto lines = chain_.lines();
  for (std::uint32_t line = 0; line < lines.size(); ++line) {
    lines[line].bucket.for_each_entry([&](std::uint32_t at, EntryWord entry) {
      const std::uint64_t tag = geometry_.cursor_tag(entry.tag());
      if (tag >= from_tag) unshown_.push_back({static_cast<std::uint32_t>(tag), line, at});
    });
  }
  std::make_heap(unshown_.begin(), unshown_.end(), std::greater<>());
}

/// Copies the element of an entry into scanned_, which has been peeked at: the part of it that a
/// scan shows, unless it is expired. `before` elements belong to other buckets; those after them
/// come before the key `from`, if this is it, and are left out.
template <fabric::Endpoint E>
template <class Access>
Code Scanner<E>::copy(Access access, std::uint32_t rank, const Unshown& next, Shown shown,
                      std::string_view from, std::size_t before) {
  Found found{.line = next.line, .at = static_cast<std::uint16_t>(next.entry)};
  Code code = walker_.look(access, rank, chain_.lines()[next.line].bucket, found);
  if (code != Code::kOk) return code;
  if (found.head.key == from) scanned_.resize(before);
  if (clock_.is_past(rank, found.head.expires_at_ms)) return code;
  ElementPart part;
  if (shown == Shown::kElements) {
    code = reader_.show(access, rank, found, ValueRange::whole(), part);
  }
  if (code == Code::kOk) scanned_.emplace_back(found.head.key, part.bytes);
  return code;
}

/// Copies elements of one bucket into scanned_, from `at` on, until there are `most` more, and
/// moves `at` behind them. Those that precede the key `from` at its own place are left out.
template <fabric::Endpoint E>
template <class Access>
Status Scanner<E>::scan_bucket(Access access, std::uint32_t rank, ScanPlace& at, std::uint64_t most,
                               std::string_view from, Shown shown) {
  chain_.read_whole(access, rank, at.bucket, most);
  collect_unshown(at.tag);
  const std::size_t before = scanned_.size();
  const typename Walker<E>::Peek how{.most = most,
                                     .whole = shown == Shown::kElements ? kWholeBytes : 0};
  while (!unshown_.empty()) {
    next_.clear();
    entries_.clear();
    // At least a line's entries, for some may be past.
    const std::uint64_t wanted = std::clamp<std::uint64_t>(most, kEntryWords, Walker<E>::kPeeks);
    const std::size_t n = std::min(unshown_.size(), wanted);
    for (std::size_t i = 0; i < n; ++i) {
      std::pop_heap(unshown_.begin(), unshown_.end(), std::greater<>());
      next_.push_back(unshown_.back());
      entries_.push_back(chain_.lines()[next_[i].line].bucket.entry(next_[i].entry));
      unshown_.pop_back();
    }
    walker_.peek(access, rank, at.bucket, entries_, how);
    for (const Unshown& next : next_) {
      const bool enough = scanned_.size() - before >= most;
      const bool same_place = next.tag == at.tag;
      at.tag = next.tag;
      if (enough && !same_place) return {};  // S2
      const Code code = copy(access, rank, next, shown, from, before);
      if (code != Code::kOk) return Status(code);
    }
  }
  at = {.bucket = at.bucket + 1, .tag = 0};
  return {};
}

/// Elements from a place on, to at most the end of its stripe, into scanned_: under one grant.
template <fabric::Endpoint E>
Status Scanner<E>::scan_stripe(std::uint32_t rank, ScanPlace& at, std::uint64_t most,
                               std::string_view from, Shown shown) {
  const std::uint64_t stripe = geometry_.stripe_of(at.bucket);
  const std::uint64_t end = geometry_.stripe_end(stripe);
  return walker_.in_stripe(rank, stripe, locks::Mode::kRead, [&] {
    scanned_.clear();
    Status status;
    while (status.ok() && at.bucket < end && scanned_.size() < most) {
      status = fabric::with_access(ep_, rank, [&](auto access) {
        return scan_bucket(access, rank, at, most - scanned_.size(), from, shown);
      });
      from = {};
    }
    return status;
  });
}

/// Shows the elements from a cursor on, up to `end_rank`. Those of its place that precede the key
/// `from`, if that is there, are left out.
template <fabric::Endpoint E>
Result<std::uint64_t> Scanner<E>::scan_at(std::uint64_t cursor, std::uint64_t limit,
                                          std::string_view from, std::uint32_t end_rank,
                                          Shown shown, ScanSink sink) {
  std::uint32_t rank = fabric::Address::from_word(cursor).rank();
  ScanPlace at = geometry_.scan_place(fabric::Address::from_word(cursor).offset());
  if (rank >= end_rank || at.bucket >= geometry_.buckets()) {
    return Status(Code::kInvalidArgument,
                  "a scan's cursor must be 0 or the result of an earlier scan");
  }
  std::uint64_t seen = 0;
  for (bool first = true; seen < limit; first = false) {
    if (!first) fabric::this_fiber::yield_now();  // an empty table is long, too
    const Status status = scan_stripe(rank, at, limit - seen, std::exchange(from, {}), shown);
    if (!status.ok()) return status;
    const auto batch = std::exchange(scanned_, {});  // the sink may scan, too
    for (const auto& [key, value] : batch) sink(key, value);
    seen += batch.size();
    if (at.bucket == geometry_.buckets()) {
      at = {};
      if (++rank == end_rank) return 0;
    }
  }
  return fabric::Address(rank, geometry_.scan_offset(at)).word();
}

template <fabric::Endpoint E>
Result<std::uint64_t> Scanner<E>::scan(std::uint64_t cursor, std::uint64_t limit, Shown shown,
                                       ScanSink sink) {
  // At least one: to show nothing and return the cursor 0 would say that the end has come.
  return scan_at(cursor, std::max<std::uint64_t>(limit, 1), {}, ep_.ranks(), shown, sink);
}

template <fabric::Endpoint E>
Result<std::uint64_t> Scanner<E>::scan_rank(std::uint32_t rank, std::uint64_t cursor,
                                            std::uint64_t limit, Shown shown, ScanSink sink) {
  if (rank >= ep_.ranks()) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("rank {} is out of range: the store has {} ranks", rank, ep_.ranks()));
  }
  const fabric::Address begin =
      cursor == 0 ? fabric::Address(rank, 0) : fabric::Address::from_word(cursor);
  if (begin.rank() != rank) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("cursor {} belongs to rank {}, not to rank {}", cursor, begin.rank(), rank));
  }
  return scan_at(begin.word(), std::max<std::uint64_t>(limit, 1), {}, rank + 1, shown, sink);
}

template <fabric::Endpoint E>
Result<std::uint64_t> Scanner<E>::scan_from(std::string_view key, const Location& location,
                                            std::uint64_t limit, Shown shown, ScanSink sink) {
  const ScanPlace begin{location.bucket, geometry_.cursor_tag(tag_of(location.hash))};
  std::uint64_t left = limit;
  const auto counted = [&](std::string_view k, std::string_view v) {
    if (left == 0) return;  // the last place may hold more than requested
    --left;
    sink(k, v);
  };
  auto next = scan_at(fabric::Address(location.rank, geometry_.scan_offset(begin)).word(), limit,
                      key, ep_.ranks(), shown, counted);
  if (!next.ok()) return next;
  return limit - left;
}

}  // namespace keyway::store
