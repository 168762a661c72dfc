// Session<E>: scans by cursors. Included by session_impl.h.
//
// *Why.* Between two steps of a scan, lines and entries of a chain move. A cursor that stops within
// a long chain therefore names a tag instead of a line.
// *Thread safety.* As the session.
// *Invariants.*
//   S1  The place of an element in the order of scans is (rank, bucket, high bits of the tag). The
//       place depends on the key and on the store's secret only, so no write moves an element.
//   S2  Under one grant of a stripe's lock, a step shows all live elements from the cursor's place
//       on, up to the next cursor's place, and elements of one place together. So the steps of a
//       scan cover all places without gap or overlap, and show each element that stays throughout
//       exactly once. Redis SCAN guarantees at least once.
//   S3  Under one grant, a step reads each line of a chain once, as a get of an absent key does,
//       and copies at most `limit` elements and the rest of the last place. A scan of keys reads no
//       values: of an element it reads kPeekBytes, and the rest of a longer key. Two elements of a
//       bucket share a place with a probability of 2^-14 (2^-11 in a table of 8 TiB).
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "keyway/kvstore/session.h"
#include "keyway/locks/fabric/fiber.h"

namespace keyway::store {

/// Makes unshown_ a heap of the entries in chain_ from a tag on, the first one in front.
template <fabric::Endpoint E>
void Session<E>::collect_unshown(std::uint64_t from_tag) {
  unshown_.clear();
  for (std::uint32_t line = 0; line < chain_.size(); ++line) {
    const Bucket& words = chain_[line].bucket;
    for (std::uint32_t i = 1; i < kBucketWords; i += words.entry(i).words()) {
      if (words.entry(i).kind() == EntryKind::kEmpty) break;
      const std::uint64_t tag = geometry_.cursor_tag(words.entry(i).tag());
      if (tag >= from_tag) unshown_.push_back({static_cast<std::uint32_t>(tag), line, i});
    }
  }
  std::make_heap(unshown_.begin(), unshown_.end(), std::greater<>());
}

/// Copies the element of an entry into scanned_, which has been peeked at as the i-th: what a scan
/// shows of it, unless it is past. `before` elements are of other buckets; those behind them come
/// before the key `from`, where this is it, and are left out.
template <fabric::Endpoint E>
template <class Access>
Code Session<E>::copy_unshown(Access access, std::uint32_t rank, const Unshown& next, std::size_t i,
                              Shown shown, std::string_view from, std::size_t before) {
  Found found{.line = next.line, .at = static_cast<std::uint16_t>(next.entry)};
  Code code = look(access, rank, chain_[next.line].bucket, i, found);
  if (code != Code::kOk) return code;
  if (found.head.key == from) scanned_.resize(before);
  if (is_past(rank, found.head.expires_at_ms)) return code;
  ElementPart part;
  if (shown == Shown::kElements) code = show(access, rank, found, ValueRange::whole(), part);
  if (code == Code::kOk) scanned_.emplace_back(found.head.key, part.bytes);
  return code;
}

/// Copies elements of one bucket into scanned_, from `at` on, until there are `most` more, and
/// moves `at` behind them. Those that precede the key `from` at its own place are left out.
template <fabric::Endpoint E>
template <class Access>
Status Session<E>::scan_bucket(Access access, std::uint32_t rank, ScanPlace& at, std::uint64_t most,
                               std::string_view from, Shown shown) {
  read_chain(access, rank, at.bucket);
  collect_unshown(at.tag);
  const std::size_t before = scanned_.size();
  while (!unshown_.empty()) {
    std::array<Unshown, detail::kPeeks> next;
    std::array<EntryWord, detail::kPeeks> entries;
    const std::size_t n = std::min(unshown_.size(), detail::kPeeks);
    for (std::size_t i = 0; i < n; ++i) {
      std::pop_heap(unshown_.begin(), unshown_.end(), std::greater<>());
      next[i] = unshown_.back();
      entries[i] = chain_[next[i].line].bucket.entry(next[i].entry);
      unshown_.pop_back();
    }
    peek(access, rank, std::span(entries).first(n));
    for (std::size_t i = 0; i < n; ++i) {
      const bool enough = scanned_.size() - before >= most;
      const bool same_place = next[i].tag == at.tag;
      at.tag = next[i].tag;
      if (enough && !same_place) return {};  // S2
      const Code code = copy_unshown(access, rank, next[i], i, shown, from, before);
      if (code != Code::kOk) return Status(code);
    }
  }
  at = {.bucket = at.bucket + 1, .tag = 0};
  return {};
}

/// Elements from a place on, to at most the end of its stripe, into scanned_: under one grant.
template <fabric::Endpoint E>
Status Session<E>::scan_stripe(std::uint32_t rank, ScanPlace& at, std::uint64_t most,
                               std::string_view from, Shown shown) {
  const std::uint64_t stripe = geometry_.stripe_of(at.bucket);
  const std::uint64_t end = geometry_.stripe_end(stripe);
  auto grant = lock_stripe(rank, stripe, locks::Mode::kRead, deadline_);
  if (!grant.ok()) return grant.status();
  begin_time(rank);
  const Hold held(*this, rank, stripe, *grant);
  scanned_.clear();
  ahead_.clear();
  Status status;
  while (status.ok() && at.bucket < end && scanned_.size() < most) {
    status = with_access(rank, [&](auto access) {
      return scan_bucket(access, rank, at, most - scanned_.size(), from, shown);
    });
    from = {};
  }
  return status;
}

/// Shows the elements from a cursor on, up to `end_rank`; returns the cursor to continue from, 0 at
/// the end. A cursor may be any word that a client has sent. Without values, these are not read.
template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::scan_at(std::uint64_t cursor, std::uint64_t limit,
                                          std::string_view from, std::uint32_t end_rank,
                                          Shown shown, ScanSink sink) {
  std::uint32_t rank = fabric::Address::from_word(cursor).rank();
  ScanPlace at = geometry_.scan_place(fabric::Address::from_word(cursor).offset());
  if (rank >= end_rank || at.bucket >= geometry_.buckets()) {
    return Status(Code::kInvalidArgument, "a scan's cursor is 0 or what an earlier scan returned");
  }
  std::uint64_t seen = 0;
  for (bool first = true; seen < limit; first = false) {
    if (!first) fabric::this_fiber::give_turn();  // an empty table is long, too
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
Result<std::uint64_t> Session<E>::scan(std::uint64_t cursor, std::uint64_t limit,
                                       const ElementSink& sink) {
  // At least one: to show nothing and return the cursor 0 would say that the end has come.
  return scan_at(cursor, std::max<std::uint64_t>(limit, 1), {}, ep_.ranks(), Shown::kElements,
                 sink);
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::scan_keys(std::uint64_t cursor, std::uint64_t limit,
                                            const KeySink& sink) {
  return scan_at(cursor, std::max<std::uint64_t>(limit, 1), {}, ep_.ranks(), Shown::kKeys,
                 [&](std::string_view key, std::string_view) { sink(key); });
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::scan_rank(std::uint32_t rank, std::uint64_t cursor,
                                            std::uint64_t limit, const ElementSink& sink) {
  return scan_one_rank(rank, cursor, limit, Shown::kElements, sink);
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::scan_keys_rank(std::uint32_t rank, std::uint64_t cursor,
                                                 std::uint64_t limit, const KeySink& sink) {
  return scan_one_rank(rank, cursor, limit, Shown::kKeys,
                       [&](std::string_view key, std::string_view) { sink(key); });
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::scan_one_rank(std::uint32_t rank, std::uint64_t cursor,
                                                std::uint64_t limit, Shown shown, ScanSink sink) {
  if (rank >= ep_.ranks()) {
    return Status(Code::kInvalidArgument, "a scan of a rank that the store has not");
  }
  const fabric::Address begin =
      cursor == 0 ? fabric::Address(rank, 0) : fabric::Address::from_word(cursor);
  if (begin.rank() != rank) {
    return Status(Code::kInvalidArgument, "a scan's cursor is of another rank");
  }
  return scan_at(begin.word(), std::max<std::uint64_t>(limit, 1), {}, rank + 1, shown, sink);
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::scan_from(std::string_view key, std::uint64_t limit,
                                            const ElementSink& sink) {
  return scan_behind(key, limit, Shown::kElements, sink);
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::scan_keys_from(std::string_view key, std::uint64_t limit,
                                                 const KeySink& sink) {
  return scan_behind(key, limit, Shown::kKeys,
                     [&](std::string_view k, std::string_view) { sink(k); });
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::scan_behind(std::string_view key, std::uint64_t limit,
                                              Shown shown, ScanSink sink) {
  if (auto status = check_key(key); !status.ok()) return status;
  const Location location = place(key);
  const ScanPlace begin{location.bucket, geometry_.cursor_tag(tag_of(location.hash))};
  std::uint64_t left = limit;
  const auto counted = [&](std::string_view k, std::string_view v) {
    if (left == 0) return;  // the last place may hold more than was asked for
    --left;
    sink(k, v);
  };
  auto next = scan_at(fabric::Address(location.rank, geometry_.scan_offset(begin)).word(), limit,
                      key, ep_.ranks(), shown, counted);
  if (!next.ok()) return next;
  return limit - left;
}

}  // namespace keyway::store
