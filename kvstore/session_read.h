// Session<E>: finding and reading one key. Included by session_impl.h.
#pragma once

#include <fmt/core.h>

#include "keyway/kvstore/session.h"
#include "keyway/locks/base/prefetch.h"
#include "keyway/locks/fabric/time_slice.h"

namespace keyway::store {

template <fabric::Endpoint E>
Session<E>::Session(E endpoint, const Geometry& geometry, const locks::StripeLock& lock,
                    const SessionOptions& options)
    : ep_(std::move(endpoint)),
      geometry_(geometry),
      lock_(lock),
      deadline_(Deadline::within(options.timeout)),
      agent_(ep_, geometry.nodes()),
      heap_(ep_, geometry),
      choice_(lock.kinds() > 1 ? options.choice : nullptr),
      sampling_(agent_.ep.agent().word()) {
  if (options.lock_times != 0) agent_.times = &times_.emplace(options.lock_times);
  owners_.reserve(1);  // begin_time() allocates nothing
  chain_.reserve(kDefaultLines);
  garbage_.reserve(kDefaultLines);
  noted_chain_.resize(ep_.ranks(), 1);
}

template <fabric::Endpoint E>
StripePlace Session<E>::stripe_of(std::string_view key) const {
  const Location location = place(key);
  return {location.rank, location.stripe};
}

template <fabric::Endpoint E>
std::uint32_t Session<E>::owner_of(std::string_view key) const {
  return ep_.ranks() == 1 ? 0 : owner_of_slot(slot_of(key), ep_.ranks());
}

template <fabric::Endpoint E>
typename Session<E>::Location Session<E>::place(std::string_view key) const {
  Location location;
  location.hash = geometry_.hash_of(key);
  location.bucket = geometry_.bucket_of(location.hash);
  location.stripe = geometry_.stripe_of(location.bucket);
  location.rank = owner_of(key);
  return location;
}

/// Calls use(cpu) or use(rma): the one place where the path is chosen.
template <fabric::Endpoint E>
template <class Use>
auto Session<E>::with_access(std::uint32_t rank, Use&& use) {
  return ep_.is_local(rank) ? use(fabric::cpu) : use(fabric::rma);
}

/// The lock's and the bucket's misses overlap.
template <fabric::Endpoint E>
template <class Access>
void Session<E>::prefetch([[maybe_unused]] Access access, const Location& location) {
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    prefetch_line<PrefetchFor::kWrite>(
        ep_.view(geometry_.stripe_site(location.rank, location.stripe)
                     .of(known(location.rank, location.stripe))
                     .line));
    prefetch_line(ep_.view(geometry_.bucket(location.rank, location.bucket)));
  }
}

template <fabric::Endpoint E>
template <class Access>
void Session<E>::prefetch_element([[maybe_unused]] Access access, std::uint32_t rank,
                                  EntryWord entry) const {
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
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
}

/// Whether the words of a remote volume's clock are likely to be needed, and can come with a read
/// of its elements.
template <fabric::Endpoint E>
bool Session<E>::wants_words() const {
  return expects_expiry_ && !words_read_ && now_ms_ == 0 && owners_.size() == 1;
}

/// Completes what post() posts to a remote rank, and the words, in one round trip.
template <fabric::Endpoint E>
template <class Post>
void Session<E>::read_with_words(std::uint32_t rank, Post&& post) {
  const PostedClockWords words = post_clock_words(rank);
  post();
  words_ = words.value(ep_.flush(rank));
  words_read_ = true;
}

/// The bytes of a heap element that may have a key of this length: in place when local; else one
/// bulk read of its whole block, whose checksum is looked at, or of a run all but the value. Empty
/// when it is damaged.
template <fabric::Endpoint E>
template <class Access>
std::span<const std::byte> Session<E>::fetch(Access access, std::uint32_t rank, EntryWord entry,
                                             std::uint64_t key_bytes) {
  const fabric::Address at{rank, entry.offset()};
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    prefetch_element(access, rank, entry);
    const std::byte* start = ep_.view(at);
    const std::uint64_t bytes = entry.size_class() == kRunClass
                                    ? element_bytes_from_header({start, kElementHeaderBytes})
                                    : class_bytes(entry.size_class());
    return {start, bytes};
  } else {
    const bool run = entry.size_class() == kRunClass;
    const std::uint64_t head =
        std::min(layout_bytes(key_bytes, 0, true), geometry_.segment_bytes() - entry.offset());
    fetched_.resize(run ? head : class_bytes(entry.size_class()));
    if (wants_words()) {
      read_with_words(rank, [&] { ep_.post_read(access, at, fetched_); });
    } else {
      ep_.read(access, at, fetched_);
    }
    const bool sound =
        run ? is_within(entry, ElementHeader::of(fetched_)) : element_intact(fetched_);
    if (!sound) return {};
    return fetched_;
  }
}

/// Whether an element with this header, read from another rank, can be where the entry says.
template <fabric::Endpoint E>
bool Session<E>::is_within(EntryWord entry, const ElementHeader& header) const {
  const std::uint64_t room = entry.size_class() == kRunClass
                                 ? geometry_.segment_bytes() - entry.offset()
                                 : class_bytes(entry.size_class());
  return header.total() <= room;
}

/// Reads a range of a remote value in one bulk read. A value that is read as a whole has to match
/// the element's checksum.
template <fabric::Endpoint E>
template <class Access>
Code Session<E>::read_value(Access access, std::uint32_t rank, const Found& found, ValueRange range,
                            ElementPart& part) {
  if (range.length == 0) return Code::kOk;
  const ElementHead& head = found.head;
  part_.resize(range.length);
  ep_.read(access, {rank, found.entry.offset() + head.value_at() + range.offset}, part_);
  part.bytes = {reinterpret_cast<const char*>(part_.data()), part_.size()};
  const bool whole = range.length == head.value_bytes;
  return !whole || element_intact(head, part.bytes) ? Code::kOk : Code::kCorruption;
}

/// Shows a range of the value of what was found: in place if it is at hand.
template <fabric::Endpoint E>
template <class Access>
[[gnu::always_inline]] inline Code Session<E>::show(Access access, std::uint32_t rank,
                                                    const Found& found, ValueRange range,
                                                    ElementPart& part) {
  range = range.cut(found.head.value_bytes);
  part = {{}, found.head.value_bytes, found.head.expires_at_ms};
  if (found.value == nullptr) return read_value(access, rank, found, range, part);
  part.bytes = {found.value + range.offset, range.length};
  return Code::kOk;
}

/// Looks for the key among the entries of one line; `found` keeps its line's number. Inline
/// elements stay where the line is. kCorruption is the only failure; `found.at` says whether the
/// key is there.
template <fabric::Endpoint E>
template <class Access>
Code Session<E>::match(Access access, const Location& location, const Bucket& bucket,
                       std::string_view key, Found& found) {
  const std::uint64_t tag = tag_of(location.hash);
  for (std::uint32_t i = 1; i < kBucketWords; i += bucket.entry(i).words()) {
    const EntryWord entry = bucket.entry(i);
    if (entry.kind() == EntryKind::kEmpty) break;
    if (entry.tag() != tag) continue;
    if (entry.kind() == EntryKind::kInline) {
      if (bucket.inline_key(i) != key) continue;
    } else {
      const auto at_hand = fetch(access, location.rank, entry, key.size());
      if (at_hand.empty()) return Code::kCorruption;
      if (!begins_with_key(at_hand, key)) continue;
      found.take(at_hand);
    }
    found.at = static_cast<std::uint16_t>(i);
    found.entry = entry;
    if (entry.kind() == EntryKind::kInline) found.take_inline(bucket);
    expects_expiry_ = found.head.expires();
    found.expired = is_past(location.rank, found.head.expires_at_ms);
    break;
  }
  return Code::kOk;
}

/// Finds the key for a reader, who keeps no copy of a local line. The stripe's lock is held;
/// `first` is the bucket's line where that has been read already.
template <fabric::Endpoint E>
template <class Access>
Code Session<E>::find(Access access, const Location& location, const Bucket* first,
                      std::string_view key, Found& found) {
  fabric::Address at = geometry_.bucket(location.rank, location.bucket);
  while (true) {
    const Bucket* bucket = &line_read_;
    if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
      bucket = reinterpret_cast<const Bucket*>(ep_.view(at));
    } else if (first != nullptr) {
      bucket = std::exchange(first, nullptr);
    } else {
      ep_.read(access, at, std::as_writable_bytes(std::span(line_read_.words)));
    }
    const Code code = match(access, location, *bucket, key, found);
    if (code != Code::kOk || found.at != 0 || bucket->link() == 0) return code;
    at = {location.rank, bucket->link()};
  }
}

/// One line of a bucket's chain. The next expiry of a remote stripe comes with the first, where it
/// is expected to be of use.
template <fabric::Endpoint E>
template <class Access>
void Session<E>::read_line(Access access, const Location& location, Line& line) {
  const auto words = std::as_writable_bytes(std::span(line.bucket.words));
  if constexpr (std::is_same_v<Access, fabric::RmaClass>) {
    if (chain_.size() == 1 && post_next_expiry(location)) {
      ep_.post_read(access, line.at, words);
      ep_.flush(location.rank);
      return;
    }
  }
  ep_.read(access, line.at, words);
}

/// Reads the bucket's chain into chain_ up to the line that holds the key, or to its end. The
/// stripe's lock is held; `first` as for find(). As match().
template <fabric::Endpoint E>
template <class Access>
Code Session<E>::locate(Access access, const Location& location, std::string_view key, Found& found,
                        const Bucket* first) {
  chain_.clear();
  fabric::Address at = geometry_.bucket(location.rank, location.bucket);
  while (true) {
    found.line = static_cast<std::uint32_t>(chain_.size());
    Line& line = chain_.emplace_back();
    line.at = at;
    if (first != nullptr) {
      line.bucket = *std::exchange(first, nullptr);
    } else {
      read_line(access, location, line);
    }
    const Code code = match(access, location, line.bucket, key, found);
    if (code != Code::kOk || found.at != 0 || line.bucket.link() == 0) return code;
    at = {location.rank, line.bucket.link()};
  }
}

/// Calls use(part) under the stripe's shared lock, when the key is there: the part of the value
/// that range_of(its length) names.
template <fabric::Endpoint E>
template <class Range, class Use>
Status Session<E>::read_at(const Location& location, std::string_view key, Range&& range_of,
                           Use&& use) {
  return with_access(location.rank, [&](auto access) -> Status {
    auto grant = lock_place(location, locks::Mode::kRead);
    if (!grant.ok()) return grant.status();
    Found found;
    Code code = Code::kOk;
    {
      const Hold held(*this, location.rank, location.stripe, *grant);
      code = find(access, location, line_of(*grant), key, found);
      ElementPart part;
      if (code == Code::kOk && found.live()) {
        code = show(access, location.rank, found, range_of(found.head.value_bytes), part);
        if (code == Code::kOk) use(part);
      }
    }
    if (until_look_ == 0) weigh(location.rank, location.stripe);
    if constexpr (std::is_same_v<decltype(access), fabric::RmaClass>) give_back_buffers();
    if (code != Code::kOk) return Status(code);
    return found.live() ? Status() : Status(Code::kNotFound);
  });
}

template <fabric::Endpoint E>
template <class Range, class Use>
Status Session<E>::read_key(std::string_view key, Range&& range_of, Use&& use) {
  if (auto status = check_key(key); !status.ok()) return status;
  const Location location = place(key);
  if (ep_.is_local(location.rank)) prefetch(fabric::cpu, location);
  return read_at(location, key, range_of, use);
}

/// As assign_in_parts() for a value of several parts.
[[gnu::noinline]] inline void assign_long(std::string& out, std::string_view value) {
  out.clear();
  out.reserve(value.size());
  for (std::size_t at = 0; at < value.size(); at += fabric::kSliceBytes) {
    out.append(value.substr(at, fabric::kSliceBytes));
    fabric::this_fiber::give_turn_if_due();
  }
}

/// Copies a value, a long one in parts between which others have their turn.
inline void assign_in_parts(std::string& out, std::string_view value) {
  if (value.size() > fabric::kSliceBytes) return assign_long(out, value);
  out.assign(value);
}

template <fabric::Endpoint E>
Status Session<E>::get(std::string_view key, std::string& out) {
  return read_key(key, whole_value,
                  [&](const ElementPart& part) { assign_in_parts(out, part.bytes); });
}

template <fabric::Endpoint E>
Status Session<E>::read(std::string_view key, Reader reader) {
  return read_key(key, whole_value, [&](const ElementPart& part) {
    reader({part.bytes, part.expires_at_ms});
  });
}

template <fabric::Endpoint E>
Status Session<E>::read_part(std::string_view key, RangeOf range_of, PartReader reader) {
  return read_key(key, range_of, reader);
}

template <fabric::Endpoint E>
Status Session<E>::get_range(std::string_view key, std::uint64_t offset, std::uint64_t length,
                             std::string& out) {
  return read_key(
      key,
      [&](std::uint64_t) {
        return ValueRange{offset, length};
      },
      [&](const ElementPart& part) { assign_in_parts(out, part.bytes); });
}

template <fabric::Endpoint E>
Result<ElementInfo> Session<E>::info(std::string_view key) {
  ElementInfo info;
  const auto no_value = [](std::uint64_t) { return ValueRange::none(); };
  Status status = read_key(key, no_value, [&](const ElementPart& part) {
    info = {part.value_bytes, part.expires_at_ms};
    if (part.expires_at_ms == kNoExpiry) return;
    info.now_ms = operation_time();
    raise_time(owner_of(key), info.now_ms);  // T3
  });
  if (!status.ok()) return status;
  return info;
}

}  // namespace keyway::store
