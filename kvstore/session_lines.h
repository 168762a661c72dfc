// Session<E>: the lines of a bucket under change, what is counted of it, and the blocks that it
// makes free. Included by session_impl.h.
#pragma once

#include <algorithm>

#include "keyway/kvstore/session.h"
#include "keyway/locks/base/give_back.h"

namespace keyway::store {

/// Takes an entry out of its line; its block becomes garbage.
template <fabric::Endpoint E>
void Session<E>::drop_entry(std::uint32_t rank, const Found& found) {
  if (found.entry.kind() == EntryKind::kHeap) {
    discard(rank, {found.entry.offset(), found.entry.size_class()});
    if (found.head.expires()) count_expiring(rank, -1);
  }
  chain_[found.line].bucket.remove(found.at);
  chain_[found.line].dirty = true;
}

/// An overflow line without entries leaves the chain.
template <fabric::Endpoint E>
void Session<E>::unlink_if_empty(std::uint32_t rank, std::uint32_t line) {
  if (line == 0 || !chain_[line].bucket.empty()) return;
  chain_[line - 1].bucket.set_link(chain_[line].bucket.link());
  chain_[line - 1].dirty = true;
  chain_[line].dirty = false;
  discard(rank, {chain_[line].at.offset(), class_for(kBucketBytes)});
}

/// The first line that was read and has room for an entry of `words`, once `leaving` has left.
template <fabric::Endpoint E>
std::optional<std::uint32_t> Session<E>::line_with_room(std::uint32_t words,
                                                        const Found& leaving) const {
  for (std::uint32_t i = 0; i < chain_.size(); ++i) {
    const bool makes_room = leaving.at != 0 && leaving.line == i;
    const std::uint32_t used = chain_[i].bucket.used() - (makes_room ? leaving.entry.words() : 0);
    if (used + words <= kBucketWords) return i;
  }
  return std::nullopt;
}

/// Writes changed lines back, and with any of them the first (K6). Local words are stored one by
/// one, because a batch get may peek.
template <fabric::Endpoint E>
template <class Access>
void Session<E>::commit(Access access, const Location& location) {
  Line& first = chain_.front();
  first.dirty =
      std::any_of(chain_.begin(), chain_.end(), [](const Line& line) { return line.dirty; });
  if (first.dirty && first.bucket.version() == Bucket::kMaxVersion) {
    count_at(location, kTurnsOffset, 1);
  }
  for (Line& line : chain_) {
    if (!line.dirty) continue;
    line.bucket.raise_version();
    if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
      for (std::uint32_t i = 0; i < kBucketWords; ++i) {
        ep_.store(access, line.at + i * 8, line.bucket.words[i]);
      }
    } else {
      ep_.post_write(access, line.at, std::as_bytes(std::span(line.bucket.words)));
    }
  }
}

template <fabric::Endpoint E>
void Session<E>::count_elements(const Location& location, std::int64_t change) {
  count_at(location, kElementsOffset, change);
}

/// A word of the stripe's counters. Its lock is held for writing, so plain words will do locally.
template <fabric::Endpoint E>
void Session<E>::count_at(const Location& location, std::uint64_t offset, std::int64_t change) {
  const fabric::Address count = geometry_.stripe_counters(location.rank, location.stripe) + offset;
  if (ep_.is_local(location.rank)) {
    ep_.store(fabric::cpu, count,
              ep_.load(fabric::cpu, count) + static_cast<std::uint64_t>(change));
  } else {
    ep_.post_fetch_add(fabric::rma, count, static_cast<std::uint64_t>(change));
  }
}

/// The volume's count of elements that expire: shared by all stripes, so an atomic; changed only by
/// writes that give or take an expiry.
template <fabric::Endpoint E>
void Session<E>::count_expiring(std::uint32_t rank, std::int64_t change) {
  ep_.post_fetch_add(fabric::rma, geometry_.header(rank) + kExpiringOffset,
                     static_cast<std::uint64_t>(change));
}

/// Raises the volume's mark of the longest chain after a write has added the last line of chain_. A
/// write that found its key has not read the lines behind, so these are counted here. The mark is a
/// figure: it publishes nothing, and no access depends on its order.
template <fabric::Endpoint E>
template <class Access>
void Session<E>::note_chain(Access access, std::uint32_t rank) {
  std::uint64_t lines = chain_.size();
  for (std::uint64_t link = chain_.back().bucket.link(); link != 0; ++lines) {
    Bucket line;
    ep_.read(access, {rank, link}, std::as_writable_bytes(std::span(line.words)));
    link = line.link();
  }
  std::uint64_t& noted = noted_chain_[rank];
  if (lines <= noted) return;
  const fabric::Address mark = geometry_.header(rank) + kLongestChainOffset;
  noted = ep_.load(fabric::rma, mark);
  while (noted < lines) {  // a round that fails has seen a higher mark, so the rounds end
    const std::uint64_t seen = ep_.compare_swap(fabric::rma, mark, noted, lines);
    noted = seen == noted ? lines : seen;
  }
}

/// Asks for a remote stripe's next expiry along with the bucket's line, if this session's last
/// write gave an expiry: whoever flushes reads both. Whether it has asked.
template <fabric::Endpoint E>
bool Session<E>::post_next_expiry(const Location& location) {
  next_expiry_posted_ = writes_expiry_;
  if (!next_expiry_posted_) return false;
  // A bulk read of one word: it changes under this stripe's lock only.
  const auto word = std::as_writable_bytes(std::span(&next_expiry_, 1));
  ep_.post_read(fabric::rma, geometry_.next_expiry(location.rank, location.stripe), word);
  return true;
}

/// K7, as an element is written that expires then. The stripe is locked for writing.
template <fabric::Endpoint E>
void Session<E>::note_expiry(const Location& location, std::uint64_t expires_at_ms) {
  const fabric::Address word = geometry_.next_expiry(location.rank, location.stripe);
  const bool local = ep_.is_local(location.rank);
  if (!local && !next_expiry_posted_) next_expiry_ = ep_.load(fabric::rma, word);
  const std::uint64_t next = local ? ep_.load(fabric::cpu, word) : next_expiry_;
  if (next != kNoExpiry && next <= expires_at_ms) return;
  if (local) {
    ep_.store(fabric::cpu, word, expires_at_ms);
  } else {
    ep_.post_store(fabric::rma, word, expires_at_ms);  // complete once the lock is released
  }
}

/// Counts an element's expiry, and keeps K7, as a decision changes the element within its block.
template <fabric::Endpoint E>
void Session<E>::recount_expiring(const Location& location, const Found& found,
                                  const Decision& decision) {
  const bool does = decision.expires_at_ms != kNoExpiry;
  if (does && decision.expires_at_ms != found.head.expires_at_ms) {
    note_expiry(location, decision.expires_at_ms);
  }
  if (found.head.expires() != does) count_expiring(location.rank, does ? 1 : -1);
}

template <fabric::Endpoint E>
void Session<E>::discard(std::uint32_t rank, const Block& block) {
  garbage_.push_back({rank, block});
}

template <fabric::Endpoint E>
void Session<E>::collect_garbage() {
  for (const Garbage& item : garbage_) {  // K4
    const std::uint64_t bytes = heap_.capacity(item.rank, item.block);
    heap_.free(item.rank, item.block, bytes);
    move_pace_.freed(item.rank, bytes);
  }
  garbage_.clear();
}

/// What one large value needed is not kept for the next operation.
template <fabric::Endpoint E>
void Session<E>::give_back_buffers() {
  give_back(built_, kMaxKept);
  give_back(fetched_, kMaxKept);
  give_back(part_, kMaxKept);
  give_back(composed_, kMaxKept);
}

}  // namespace keyway::store
