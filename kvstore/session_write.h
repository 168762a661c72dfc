// Session<E>: changing one key. Included by session_impl.h.
//
// Every write is a mutator: under the stripe's lock it is shown the element, or nothing, and says
// what is to become of it. A mutator names the range of the value that it needs; the rest is
// neither read nor transferred. put, compare-and-set, increment and the others are mutators of a
// few lines each; how elements move between lines and blocks is said once, below, in
// session_overwrite.h and in session_lines.h.
#pragma once

#include <algorithm>
#include <charconv>

#include "keyway/kvstore/session.h"

namespace keyway::store {

/// Locks, shows, applies. When the heap is full, room is made if it can be, and the write is tried
/// again.
template <fabric::Endpoint E>
template <class Mutate>
Status Session<E>::mutate_key(std::string_view key, ValueRange range, Mutate&& mutate) {
  if (auto status = check_key(key); !status.ok()) return status;
  const Location location = place(key);
  const auto once = [&] {
    return with_access(location.rank, [&](auto access) -> Status {
      prefetch(access, location);
      auto grant = lock_place(location, locks::Mode::kWrite);
      if (!grant.ok()) return grant.status();
      Status status;
      {
        const Hold held(*this, location.rank, location.stripe, *grant);
        status = modify_locked(access, location, key, range, mutate, line_of(*grant));
      }
      collect_garbage();
      if (until_look_ == 0) weigh(location.rank, location.stripe);
      return status;
    });
  };
  Status status = with_room(std::span(&location, 1), once);
  if (!ep_.is_local(location.rank) || !built_.empty()) give_back_buffers();
  return status;
}

/// Sweeps the volumes of these places, those that hold anything that expires, unless a sweep a
/// moment ago found nothing: a store that is full must not walk its table for every write that
/// fails. True when something went.
template <fabric::Endpoint E>
bool Session<E>::sweep_for_room(std::span<const Location> places) {
  const std::uint64_t now = ep_.now_ns();
  if (now < next_sweep_ns_) return false;
  std::vector<std::uint32_t> ranks;
  for (const Location& place : places) ranks.push_back(place.rank);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  bool found = false;
  for (const std::uint32_t rank : ranks) {
    if (ep_.load(fabric::rma, geometry_.header(rank) + kExpiringOffset) == 0) continue;
    const auto swept = sweep_expired(rank);
    found = found || (swept.ok() && *swept > 0);
  }
  if (!found) next_sweep_ns_ = now + kSweepPauseNs;
  return found;
}

template <fabric::Endpoint E>
template <class Access, class Mutate>
Status Session<E>::modify_locked(Access access, const Location& location, std::string_view key,
                                 ValueRange range, Mutate&& mutate, const Bucket* first) {
  Found found;
  if (const Code code = locate(access, location, key, found, first); code != Code::kOk)
    return Status(code);
  ElementPart part;
  if (found.live()) {
    const Code code = show(access, location.rank, found, range, part);
    if (code != Code::kOk) return Status(code);
  }
  const Decision decision = mutate(found.live() ? &part : nullptr);
  // K3: what follows allocates nothing of ours once it has begun to change things.
  detail::reserve_more(garbage_, kMaxGarbage);
  switch (decision.action) {
    case Decision::Action::kWrite: return apply_write(access, location, key, decision, found);
    case Decision::Action::kOverwrite:
      return apply_overwrite(access, location, key, decision, found);
    case Decision::Action::kErase:
      if (found.at != 0) apply_erase(access, location, found);
      break;
    case Decision::Action::kNothing:
      if (found.at != 0 && found.expired) apply_erase(access, location, found);
      break;
  }
  return Status(decision.code);
}

/// Writes element bytes to a block.
template <fabric::Endpoint E>
template <class Access>
void Session<E>::put_element(Access access, fabric::Address at, std::string_view key,
                             const Decision& decision, std::uint16_t version) {
  const std::uint64_t bytes =
      element_bytes(key.size(), decision.value.size(), decision.expires_at_ms != kNoExpiry);
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    write_element({ep_.view(at), bytes}, key, decision.value, decision.expires_at_ms, version);
  } else {
    composed_.resize(bytes);
    write_element(composed_, key, decision.value, decision.expires_at_ms, version);
    ep_.post_write(access, at, composed_);  // complete when the lock's release has flushed
  }
}

/// The common update. False when it does not fit.
template <fabric::Endpoint E>
template <class Access>
bool Session<E>::rewrite_in_place(Access access, const Location& location, std::string_view key,
                                  const Decision& decision, const Found& found) {
  if (!detail::fits_in_place(found, key.size(), decision.value.size(),
                             decision.expires_at_ms != kNoExpiry)) {
    return false;
  }
  const auto version = static_cast<std::uint16_t>(found.head.version + 1);
  put_element(access, {location.rank, found.entry.offset()}, key, decision, version);
  if (version == 0) {  // K6
    chain_.front().dirty = true;
    commit(access, location);
  }
  recount_expiring(location, found, decision);
  return true;
}

template <fabric::Endpoint E>
Status Session<E>::full(std::uint32_t rank, std::uint64_t bytes) {
  return {Code::kOutOfSpace,
          fmt::format("the heap of rank {} has no room for {} bytes; erase elements or give "
                      "the store more memory",
                      rank, bytes)};
}

/// Puts the element in place of what was found, or adds it, in a block with this much room to grow
/// where there is one. K3: both allocations come first.
template <fabric::Endpoint E>
template <class Access>
Status Session<E>::apply_write(Access access, const Location& location, std::string_view key,
                               const Decision& decision, const Found& found, std::uint64_t spare) {
  if (auto status = check_value(decision.value.size()); !status.ok()) return status;
  writes_expiry_ = decision.expires_at_ms != kNoExpiry;
  if (rewrite_in_place(access, location, key, decision, found)) return {};

  const bool expires = decision.expires_at_ms != kNoExpiry;
  const bool inlined = !expires && key.size() + decision.value.size() <= kInlineBytes;
  const std::uint64_t bytes = element_bytes(key.size(), decision.value.size(), expires);
  chain_.reserve(chain_.size() + 1);  // K3
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

  std::uint16_t version = 1;
  if (found.at != 0) {
    version = static_cast<std::uint16_t>(found.head.version + 1);
    drop_entry(location.rank, found);
  }
  if (overflow) {
    // A fresh line goes in after the last line that was read, ahead of those that were not.
    Line fresh;
    fresh.at = {location.rank, overflow->offset};
    fresh.bucket.set_link(chain_.back().bucket.link());
    chain_.back().bucket.set_link(overflow->offset);
    chain_.back().dirty = true;
    line = static_cast<std::uint32_t>(chain_.size());
    chain_.push_back(fresh);
  }
  Line& target = chain_[*line];
  const std::uint64_t tag = tag_of(location.hash);
  if (inlined) {
    target.bucket.set_inline(target.bucket.used(), tag, key, decision.value);
  } else {
    put_element(access, {location.rank, block->offset}, key, decision, version);
    target.bucket.set_heap(target.bucket.used(),
                           EntryWord::heap(tag, block->size_class, block->offset));
    if (expires) {
      note_expiry(location, decision.expires_at_ms);
      count_expiring(location.rank, 1);
    }
  }
  target.dirty = true;
  if (found.at != 0) unlink_if_empty(location.rank, found.line);
  commit(access, location);
  if (overflow) note_chain(access, location.rank);
  if (found.at == 0) count_elements(location, 1);
  return {};
}

template <fabric::Endpoint E>
template <class Access>
void Session<E>::apply_erase(Access access, const Location& location, const Found& found) {
  drop_entry(location.rank, found);
  unlink_if_empty(location.rank, found.line);
  commit(access, location);
  count_elements(location, -1);
}

template <fabric::Endpoint E>
Status Session<E>::put(std::string_view key, std::string_view value, const PutOptions& options) {
  return mutate_key(key, ValueRange::none(),
                    [&](const ElementPart* old) { return decide_put(old, value, options); });
}

template <fabric::Endpoint E>
Status Session<E>::compare_and_set(std::string_view key, std::string_view expected,
                                   std::string_view value) {
  return modify(
      key, [&](const ElementState* old) { return decide_compare_and_set(old, expected, value); });
}

template <fabric::Endpoint E>
Status Session<E>::erase(std::string_view key) {
  return mutate_key(key, ValueRange::none(),
                    [](const ElementPart* old) { return decide_erase(old); });
}

template <fabric::Endpoint E>
Result<std::int64_t> Session<E>::increment(std::string_view key, std::int64_t delta) {
  std::int64_t sum = 0;
  Status status = mutate_key(key, ValueRange::whole(), [&](const ElementPart* old) -> Decision {
    std::int64_t before = 0;
    if (old != nullptr) {
      const char* end = old->bytes.data() + old->bytes.size();
      const auto [stop, error] = std::from_chars(old->bytes.data(), end, before);
      if (error != std::errc() || stop != end) return Decision::fail(Code::kNotANumber);
    }
    if (__builtin_add_overflow(before, delta, &sum)) return Decision::fail(Code::kNotANumber);
    built_ = std::to_string(sum);
    return Decision::write(built_, expiry_of(old));
  });
  if (!status.ok()) return status;
  return sum;
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::append(std::string_view key, std::string_view suffix) {
  std::uint64_t length = 0;
  Status status = mutate_key(key, ValueRange::none(), [&](const ElementPart* old) {
    const Decision decision = decide_append(old, suffix);
    length = decision.offset + suffix.size();
    return decision;
  });
  if (!status.ok()) return status;
  return length;
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::set_range(std::string_view key, std::uint64_t offset,
                                            std::string_view bytes, PutIf when) {
  if (offset > kMaxValueBytes) return check_value(offset);
  if (auto status = check_value(offset + bytes.size()); !status.ok()) return status;
  std::uint64_t length = 0;
  Status status = mutate_key(key, ValueRange::none(), [&](const ElementPart* old) {
    const Decision decision = decide_set_range(old, offset, bytes, when);
    length = overwritten_bytes(old != nullptr ? old->value_bytes : 0, decision);
    return decision;
  });
  if (!status.ok()) return status;
  return length;
}

template <fabric::Endpoint E>
Status Session<E>::modify(std::string_view key, Mutator mutate) {
  return mutate_key(key, ValueRange::whole(), [&](const ElementPart* old) -> Decision {
    if (old == nullptr) return mutate(nullptr);
    const ElementState state{old->bytes, old->expires_at_ms};
    return mutate(&state);
  });
}

template <fabric::Endpoint E>
Status Session<E>::modify_part(std::string_view key, ValueRange range, PartMutator mutate) {
  return mutate_key(key, range, mutate);
}

template <fabric::Endpoint E>
Status Session<E>::set_expiry(std::string_view key, std::uint64_t expires_at_ms) {
  return mutate_key(key, ValueRange::none(), [&](const ElementPart* old) -> Decision {
    if (old == nullptr) return Decision::fail(Code::kNotFound);
    if (has_come(expires_at_ms)) return Decision::erase();
    return Decision::expire(expires_at_ms);
  });
}

}  // namespace keyway::store
