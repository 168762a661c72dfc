// BucketChain<E>: the places of change: an element is written, overwritten in part, erased, or
// removed by a walk.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "keyway/kvstore/layout/stamp.h"
#include "keyway/kvstore/types/decisions.h"
#include "keyway/kvstore/volume/bucket_chain.h"
#include "keyway/locks/fabric/time_slice.h"
#include "keyway/locks/fabric/with_access.h"

namespace keyway::store {

template <fabric::Endpoint E>
template <class Access>
[[gnu::always_inline]] inline Status BucketChain<E>::apply(Access access, const Location& location,
                                                           std::string_view key,
                                                           const Decision& decision,
                                                           const Found& found) {
  // K3: the code below does not allocate our own memory once it has begun to change things.
  freed_.reserve(FreedBlocks<E>::kMaxOfWrite);
  place_ = found.place();
  switch (decision.action) {
    case Decision::Action::kWrite: return write(access, location, key, decision, found);
    case Decision::Action::kOverwrite:
      return overwrite_part(access, location, key, decision, found);
    case Decision::Action::kErase:
      if (found.at != 0) erase(access, location, key, found);
      break;
    case Decision::Action::kNothing:
      if (found.at != 0 && found.expired) {
        erase(access, location, key, found);
      } else if (found.head.marked) {
        unmark(location.rank, found);
      }
      break;
  }
  return Status(decision.code);
}

/// Writes bytes of an element: local ones before its header (K9), others at any time until the
/// lock's release has flushed.
template <fabric::Endpoint E>
template <class Access>
void BucketChain<E>::put_bytes(Access access, fabric::Address at,
                               std::span<const std::byte> bytes) {
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    ep_.write(access, at, bytes);
  } else {
    ep_.post_write(access, at, bytes);
  }
}

/// The same of a value, or of a part of one. Others have their turn between parts of a long local
/// one, which readers refuse until its header is written (K9).
template <fabric::Endpoint E>
template <class Access>
[[gnu::always_inline]] inline void BucketChain<E>::put_value(Access access, fabric::Address at,
                                                             std::span<const std::byte> bytes) {
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    if (bytes.size() > fabric::kSliceBytes) return put_long_value(at, bytes);
  }
  put_bytes(access, at, bytes);
}

template <fabric::Endpoint E>
[[gnu::noinline]] void BucketChain<E>::put_long_value(fabric::Address at,
                                                      std::span<const std::byte> bytes) {
  fabric::for_each_part(bytes.size(), [&](std::size_t from, std::size_t n) {
    put_bytes(fabric::cpu, at + from, bytes.subspan(from, n));
  });
}

/// Writes element bytes to a block.
template <fabric::Endpoint E>
template <class Access>
void BucketChain<E>::put_element(Access access, fabric::Address at, std::string_view key,
                                 const Decision& decision, std::uint16_t version,
                                 std::uint32_t stamp) {
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    const ElementHeader header = header_for(geometry_.elements(), key, decision.value,
                                            decision.expires_at_ms, version, stamp);
    const std::uint64_t key_at = header.key_at();
    put_bytes(access, at + key_at, std::as_bytes(std::span(key)));
    put_value(access, at + key_at + key.size(), std::as_bytes(std::span(decision.value)));
    // Most elements of a store on one node have a header of one word.
    if (key_at == sizeof(std::uint64_t)) return ep_.store(access, at, header.first_word());
    std::array<std::byte, kMaxHeaderBytes> first;
    write_header(first, header, decision.expires_at_ms);
    put_header(access, at, std::span(first).first(key_at));
  } else {
    const bool expires = decision.expires_at_ms != kNoExpiry;
    composed_.resize(geometry_.elements().bytes_of(key.size(), decision.value.size(), expires));
    write_element(geometry_.elements(), composed_, key, decision.value, decision.expires_at_ms,
                  version, stamp);
    put_bytes(access, at, composed_);
  }
}

/// Before an element changes in place: readers of this node refuse it until its header is written
/// (K9). A reader on another node has the checksum, and would forget the place of a marked element.
template <fabric::Endpoint E>
template <class Access>
void BucketChain<E>::begin_in_place(Access access, fabric::Address at) {
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    if (!ep_.one_class()) return;
    ep_.store(access, at, ep_.load(access, at) | geometry_.elements().mark());
  }
}

/// The header and expiry of an element, all else of which has been written: in local memory the
/// word of the mark comes last (K9).
template <fabric::Endpoint E>
template <class Access>
void BucketChain<E>::put_header(Access access, fabric::Address at,
                                std::span<const std::byte> header) {
  constexpr bool kLocal = std::is_same_v<Access, fabric::CpuClass>;
  constexpr std::uint64_t kWord = sizeof(std::uint64_t);
  if constexpr (kLocal) put_bytes(access, at + kWord, header.subspan(kWord));
  put_bytes(access, at, kLocal ? header.first(kWord) : header);
}

/// K6, of an element that has changed in place.
template <fabric::Endpoint E>
template <class Access>
void BucketChain<E>::commit_if_version_wrapped(Access access, const Location& location,
                                               std::uint16_t version) {
  if (version != 0) return;
  lines_.front().dirty = true;
  commit(access, location);
}

/// The common update. False when it does not fit.
template <fabric::Endpoint E>
template <class Access>
bool BucketChain<E>::rewrite(Access access, const Location& location, std::string_view key,
                             const Decision& decision, const Found& found) {
  if (!fits_in_place(geometry_.elements(), found, key.size(), decision.value.size(),
                     decision.expires_at_ms != kNoExpiry)) {
    return false;
  }
  const auto version = static_cast<std::uint16_t>(found.head.version + 1);
  const fabric::Address at{location.rank, found.entry.offset()};
  begin_in_place(access, at);
  put_element(access, at, key, decision, version, found.head.stamp);
  note({location, key, found, &decision});
  commit_if_version_wrapped(access, location, version);
  return true;
}

template <fabric::Endpoint E>
Status BucketChain<E>::full(std::uint32_t rank, std::uint64_t bytes) {
  return {Code::kOutOfSpace,
          fmt::format("the heap of rank {} has no room for {} bytes; erase elements or give "
                      "the store more memory",
                      rank, bytes)};
}

/// Puts the element where the old one was found, or adds it, in a block with this much room to grow
/// where there is one. K3: both allocations come first.
template <fabric::Endpoint E>
template <class Access>
Status BucketChain<E>::write(Access access, const Location& location, std::string_view key,
                             const Decision& decision, const Found& found, std::uint64_t spare) {
  if (auto status = check_value(decision.value.size()); !status.ok()) return status;
  const bool expires = decision.expires_at_ms != kNoExpiry;
  if (rewrite(access, location, key, decision, found)) {
    if (expires) place_ = {};
    return {};
  }

  const bool inlined = !expires && key.size() + decision.value.size() <= kInlineBytes;
  const std::uint64_t bytes =
      geometry_.elements().bytes_of(key.size(), decision.value.size(), expires);
  lines_.reserve(lines_.size() + 1);  // K3
  if constexpr (!std::is_same_v<Access, fabric::CpuClass>) composed_.reserve(inlined ? 0 : bytes);
  std::optional<Block> block;
  if (!inlined && !(block = heap_.allocate(location.rank, bytes, spare))) {
    return full(location.rank, bytes);
  }
  // An earlier line's room counts too, so the rest of the chain must be known: locate() stops at
  // the key, and then the key's own line makes room or the lines before it do.
  auto line = line_with_room(inlined ? kInlineEntryWords : 1, found);
  std::optional<Block> overflow;
  if (!line && !(overflow = heap_.allocate(location.rank, kBucketBytes))) {
    if (block) heap_.free(location.rank, *block, heap_.capacity(location.rank, *block));
    return full(location.rank, bytes);
  }

  note({location, key, found, &decision});
  place_ = {};
  std::uint16_t version = 1;
  if (found.at != 0) {
    version = static_cast<std::uint16_t>(found.head.version + 1);
    drop_entry(location.rank, found);
  }
  // The flush that may read the epoch completes the mark of the old element as well.
  const bool stamps = !inlined && geometry_.elements().proof;
  const std::uint32_t stamp = stamps ? stamp_of_next_change(location) : 0;
  if (overflow) line = add_line(location.rank, *overflow);
  Line& target = lines_[*line];
  const std::uint64_t tag = tag_of(location.hash);
  if (inlined) {
    target.bucket.set_inline(target.bucket.used(), tag, key, decision.value);
  } else {
    put_element(access, {location.rank, block->offset}, key, decision, version, stamp);
    const auto entry = EntryWord::heap(tag, block->size_class, block->offset);
    target.bucket.set_heap(target.bucket.used(), entry);
    if (!expires) place_ = {entry, stamp};
  }
  target.dirty = true;
  if (found.at != 0) unlink_if_empty(location.rank, found.line);
  commit(access, location);
  if (overflow) note_length(access, location.rank);
  return {};
}

template <fabric::Endpoint E>
template <class Access>
void BucketChain<E>::erase(Access access, const Location& location, std::string_view key,
                           const Found& found) {
  note({location, key, found, nullptr});
  place_ = {};
  drop_entry(location.rank, found);
  unlink_if_empty(location.rank, found.line);
  commit(access, location);
}

template <fabric::Endpoint E>
void BucketChain<E>::remove(const Location& location, const Found& found) {
  note({location, found.head.key, found, nullptr});
  drop_entry(location.rank, found);
}

template <fabric::Endpoint E>
template <class Access>
void BucketChain<E>::end_removals(Access access, const Location& location) {
  for (auto line = static_cast<std::uint32_t>(lines_.size()); line-- > 1;) {
    unlink_if_empty(location.rank, line);
  }
  commit(access, location);
  ep_.flush(location.rank);
}

template <fabric::Endpoint E>
void BucketChain<E>::mark(std::uint32_t rank, EntryWord entry) {
  const fabric::Address word{rank, entry.offset()};
  const std::uint64_t mark = geometry_.elements().mark();
  if (ep_.is_local(rank)) {
    ep_.store(fabric::cpu, word, ep_.load(fabric::cpu, word) | mark);
  } else {
    ep_.post_fetch_or(fabric::rma, word, mark);
    marks_posted_ = true;
  }
}

/// The stamp of an element that the write in progress puts into a block.
template <fabric::Endpoint E>
std::uint32_t BucketChain<E>::stamp_of_next_change(const Location& location) {
  const EpochRead epoch = counters_.epoch_for_stamp(location);
  marks_posted_ = marks_posted_ && !epoch.flushed;
  return next_stamp(epoch.epoch, lines_.front().bucket.version());
}

template <fabric::Endpoint E>
void BucketChain<E>::unmark(std::uint32_t rank, const Found& found) {
  first_word_ = header_of(found.head).first_word();
  const auto bytes = std::as_bytes(std::span(&first_word_, 1));
  const fabric::Address at{rank, found.entry.offset()};
  fabric::with_access(ep_, rank, [&](auto access) { ep_.post_write(access, at, bytes); });
}

/// Takes an entry out of its line; its block becomes free once the stripe is unlocked.
template <fabric::Endpoint E>
void BucketChain<E>::drop_entry(std::uint32_t rank, const Found& found) {
  if (found.entry.kind() == EntryKind::kHeap) {
    if (!found.head.marked) mark(rank, found.entry);  // a mark that has been read is complete
    freed_.add(rank, {found.entry.offset(), found.entry.size_class()});
  }
  lines_[found.line].bucket.remove(found.at);
  lines_[found.line].dirty = true;
}

/// An overflow line without entries leaves the chain.
template <fabric::Endpoint E>
void BucketChain<E>::unlink_if_empty(std::uint32_t rank, std::uint32_t line) {
  if (line == 0 || !lines_[line].bucket.empty()) return;
  lines_[line - 1].bucket.set_link(lines_[line].bucket.link());
  lines_[line - 1].dirty = true;
  lines_[line].dirty = false;
  freed_.add(rank, {lines_[line].at.offset(), class_for(kBucketBytes)});
}

/// The first line that was read and has room for an entry of `words`, once `leaving` has left.
template <fabric::Endpoint E>
std::optional<std::uint32_t> BucketChain<E>::line_with_room(std::uint32_t words,
                                                            const Found& leaving) const {
  for (std::uint32_t i = 0; i < lines_.size(); ++i) {
    const bool makes_room = leaving.at != 0 && leaving.line == i;
    const std::uint32_t used = lines_[i].bucket.used() - (makes_room ? leaving.entry.words() : 0);
    if (used + words <= kBucketWords) return i;
  }
  return std::nullopt;
}

/// Links a fresh line in after the last one that was read, ahead of those that were not.
template <fabric::Endpoint E>
std::uint32_t BucketChain<E>::add_line(std::uint32_t rank, const Block& block) {
  Line fresh;
  fresh.at = {rank, block.offset};
  fresh.bucket.set_link(lines_.back().bucket.link());
  lines_.back().bucket.set_link(block.offset);
  lines_.back().dirty = true;
  lines_.push_back(fresh);
  return static_cast<std::uint32_t>(lines_.size()) - 1;
}

/// Notes the length of a chain of which a write has added the last line that is known. A write that
/// found its key has not read the lines behind, so these are counted here.
template <fabric::Endpoint E>
template <class Access>
void BucketChain<E>::note_length(Access access, std::uint32_t rank) {
  std::uint64_t length = lines_.size();
  for (std::uint64_t link = lines_.back().bucket.link(); link != 0; ++length) {
    Bucket line;
    ep_.read(access, {rank, link}, std::as_writable_bytes(std::span(line.words)));
    link = line.link();
  }
  counters_.note_chain(rank, length);
}

/// Local words are stored one by one, because a batch get may peek, and a reader of this node read
/// without the lock: the header of the first line says so until all else is written (K9).
template <fabric::Endpoint E>
template <class Access>
void BucketChain<E>::commit(Access access, const Location& location) {
  Line& first = lines_.front();
  first.dirty =
      std::any_of(lines_.begin(), lines_.end(), [](const Line& line) { return line.dirty; });
  if (first.dirty && first.bucket.version() == Bucket::kMaxVersion) {
    counters_.advance_epoch(location);
  }
  if (std::exchange(marks_posted_, false)) ep_.order(location.rank);  // K8
  for (Line& line : lines_) {
    if (line.dirty) line.bucket.raise_version();
  }
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    // release, each of them: the marks come before (K8), and so does this header.
    if (first.dirty) ep_.store(access, first.at, Bucket::changing(first.bucket.words[0]));
    for (const Line& line : lines_) {
      if (!line.dirty) continue;
      for (std::uint32_t i = 1; i < kBucketWords; ++i) {
        ep_.store(access, line.at + i * 8, line.bucket.words[i]);
      }
      if (&line != &first) ep_.store(access, line.at, line.bucket.words[0]);
    }
    if (first.dirty) ep_.store(access, first.at, first.bucket.words[0]);
  } else {
    for (const Line& line : lines_) {
      if (line.dirty) ep_.post_write(access, line.at, std::as_bytes(std::span(line.bucket.words)));
    }
  }
  counters_.write_element_count(location);
}

}  // namespace keyway::store
