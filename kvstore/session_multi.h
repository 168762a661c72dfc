// Session<E>: several keys in one call. Included by session_impl.h.
//
// get_many() is a batch of single gets that overlaps their cache misses; the others are atomic:
// they hold the locks of all their stripes at once, on whatever ranks these are (K5). Transactions
// are in session_transaction.h.
#pragma once

#include <algorithm>
#include <functional>

#include "keyway/kvstore/session.h"
#include "keyway/locks/fabric/time_slice.h"

namespace keyway::store {

/// Keys of a batch get that are in flight together: enough misses to fill a core's line buffers.
inline constexpr std::size_t kPrefetchWindow = 16;

/// The stripes of several keys, locked in order, released when it goes.
template <fabric::Endpoint E>
class Session<E>::StripeSet {
 public:
  StripeSet(Session& session, std::span<const Location> locations) : session_(session) {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> stripes;
    stripes.reserve(locations.size());
    for (const auto& location : locations) {
      if (session.ep_.is_local(location.rank)) session.prefetch(fabric::cpu, location);
      stripes.emplace_back(location.rank, location.stripe);
    }
    std::sort(stripes.begin(), stripes.end());  // K5
    stripes.erase(std::unique(stripes.begin(), stripes.end()), stripes.end());
    held_.reserve(stripes.size());
    for (const auto& [rank, stripe] : stripes) held_.push_back({rank, stripe, {}});
    if (!session_.alone_) begin_time();
  }
  StripeSet(const StripeSet&) = delete;
  StripeSet& operator=(const StripeSet&) = delete;
  ~StripeSet() { release(); }

  Status acquire(locks::Mode mode) {
    const Deadline until = session_.deadline_.started(session_.ep_.now_ns());
    for (Held& held : held_) {
      auto grant = session_.lock_stripe(held.rank, held.stripe, mode, until);
      if (!grant.ok()) return grant.status();
      held.grant = *grant;
      ++locked_;
    }
    session_.deciding_ = true;
    return {};
  }

  void release() {
    session_.deciding_ = false;
    while (locked_ > 0) {
      Held& held = held_[--locked_];
      session_.unlock_stripe(held.rank, held.stripe, held.grant);
    }
    session_.collect_garbage();
    session_.heap_.trim();
    session_.give_back_buffers();
  }

 private:
  struct Held {
    std::uint32_t rank;
    std::uint64_t stripe;
    locks::StripeGrant grant;
  };

  /// One time for all keys (T1).
  void begin_time() {
    session_.owners_.clear();
    for (const Held& held : held_) {
      if (session_.owners_.empty() || session_.owners_.back() != held.rank) {
        session_.owners_.push_back(held.rank);
      }
    }
    session_.now_ms_ = 0;
    session_.words_read_ = false;
  }

  Session& session_;
  std::vector<Held> held_;
  std::size_t locked_ = 0;
};

template <fabric::Endpoint E>
void Session<E>::get_many(std::span<const std::string_view> keys, std::span<std::string> out,
                          std::span<Code> codes) {
  KW_CHECK(out.size() >= keys.size() && codes.size() >= keys.size());
  for (std::size_t at = 0; at < keys.size(); at += kPrefetchWindow) {
    const std::size_t n = std::min(kPrefetchWindow, keys.size() - at);
    get_window(keys.subspan(at, n), out.subspan(at, n), codes.subspan(at, n));
  }
}

template <fabric::Endpoint E>
void Session<E>::get_window(std::span<const std::string_view> keys, std::span<std::string> out,
                            std::span<Code> codes) {
  std::array<Location, kPrefetchWindow> window;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    codes[i] = check_key(keys[i]).code();
    if (codes[i] != Code::kOk) continue;
    window[i] = place(keys[i]);
    if (ep_.is_local(window[i].rank)) prefetch(fabric::cpu, window[i]);
  }
  prefetch_window(std::span(window).first(keys.size()));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (codes[i] != Code::kOk) continue;
    codes[i] = read_at(window[i], keys[i], whole_value, [&](const ElementPart& part) {
                 out[i].assign(part.bytes);
               }).code();
  }
}

/// Asks for what operations on these keys will touch of local memory.
template <fabric::Endpoint E>
void Session<E>::prefetch(std::span<const std::string_view> keys) {
  for (std::size_t at = 0; at < keys.size(); at += kPrefetchWindow) {
    std::array<Location, kPrefetchWindow> window;
    std::size_t placed = 0;
    for (const std::string_view key :
         keys.subspan(at, std::min(kPrefetchWindow, keys.size() - at))) {
      if (key.empty() || key.size() > kMaxKeyBytes) continue;
      window[placed] = place(key);
      if (!ep_.is_local(window[placed].rank)) continue;
      prefetch(fabric::cpu, window[placed++]);
    }
    prefetch_window(std::span(window).first(placed));
  }
}

/// Looks at bucket lines without their locks, a word at a time, to learn where the elements are.
/// What it sees may be stale; it is only used to prefetch.
template <fabric::Endpoint E>
void Session<E>::prefetch_window(std::span<const Location> window) {
  for (const Location& location : window) {
    if (!ep_.is_local(location.rank)) continue;
    const fabric::Address line = geometry_.bucket(location.rank, location.bucket);
    for (std::uint32_t i = 1; i < kBucketWords; ++i) {
      const EntryWord entry(ep_.load(fabric::cpu, line + i * 8));
      if (entry.kind() == EntryKind::kEmpty) break;
      if (entry.kind() == EntryKind::kInline) {
        i += kInlineEntryWords - 1;
      } else if (entry.kind() == EntryKind::kHeap && entry.tag() == tag_of(location.hash) &&
                 (entry.size_class() < kClasses || entry.size_class() == kRunClass) &&
                 entry.offset() + kChunkBytes <= geometry_.segment_bytes()) {
        prefetch_element(fabric::cpu, location.rank, entry);
      }
    }
  }
}

/// The places of several keys; fails on the first that is out of bounds.
template <fabric::Endpoint E>
template <class Items, class KeyOf>
Result<std::vector<typename Session<E>::Location>> Session<E>::place_all(const Items& items,
                                                                         KeyOf key_of) const {
  std::vector<Location> locations;
  locations.reserve(items.size());
  for (const auto& item : items) {
    if (auto status = check_key(std::invoke(key_of, item)); !status.ok()) return status;
    locations.push_back(place(std::invoke(key_of, item)));
  }
  return locations;
}

/// Room was leased for all writes (K3), and was not enough: a defect of reserve_writes(). Not
/// kOutOfSpace, which says that nothing was written and may be tried again.
inline Status half_done(std::size_t done, std::size_t all) {
  return {
      Code::kCorruption,
      fmt::format("the room that was reserved for {} elements was enough for {}: only these are "
                  "written; please report this",
                  all, done)};
}

/// Changes several keys whose stripes are locked: mutate(i, element) decides on the i-th. K3: from
/// the first change on, nothing of this session's memory is allocated; blocks of what is written
/// were reserved by reserve_writes(). Only a damaged element ends it half-way (kCorruption).
template <fabric::Endpoint E>
template <class Items, class KeyOf, class Mutate>
Status Session<E>::mutate_all(std::span<const Location> locations, const Items& items, KeyOf key_of,
                              Mutate&& mutate) {
  garbage_.reserve(garbage_.size() + locations.size() * kMaxGarbage);
  if (locations.size() > 1) reserve_reads(locations);  // one key fails before it changes
  for (std::size_t i = 0; i < locations.size(); ++i) {
    fabric::this_fiber::give_turn_if_due(i);
    Status status = with_access(locations[i].rank, [&](auto access) {
      return modify_locked(access, locations[i], std::invoke(key_of, items[i]), ValueRange::none(),
                           [&](const ElementPart* old) { return mutate(i, old); });
    });
    if (status == Code::kOutOfSpace) return half_done(i, locations.size());
    if (!status.ok()) return status;
    ep_.flush(locations[i].rank);  // the buffers of a posted write are used again by the next
  }
  return {};
}

template <fabric::Endpoint E>
Status Session<E>::get_all(std::span<const std::string_view> keys,
                           std::vector<std::optional<std::string>>& out) {
  out.assign(keys.size(), std::nullopt);
  return read_all(keys, [&](std::size_t i, const ElementState* element) {
    if (element != nullptr) out[i].emplace(element->value);
  });
}

template <fabric::Endpoint E>
Status Session<E>::read_all(std::span<const std::string_view> keys, ElementsReader reader) {
  auto placed = place_all(keys, std::identity());
  if (!placed.ok()) return placed.status();
  const std::vector<Location>& locations = *placed;
  StripeSet stripes(*this, locations);
  if (auto status = stripes.acquire(locks::Mode::kRead); !status.ok()) return status;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    fabric::this_fiber::give_turn_if_due(i);
    if (i % kPrefetchWindow == 0) {
      prefetch_window(
          std::span(locations).subspan(i, std::min(kPrefetchWindow, locations.size() - i)));
    }
    const Code code = with_access(locations[i].rank, [&](auto access) {
      Found found;
      ElementPart part;
      Code read = find(access, locations[i], nullptr, keys[i], found);
      if (read == Code::kOk && found.live()) {
        read = show(access, locations[i].rank, found, ValueRange::whole(), part);
      }
      const ElementState state{part.bytes, part.expires_at_ms};
      if (read == Code::kOk) reader(i, found.live() ? &state : nullptr);
      if (state.value.size() > fabric::kSliceBytes) fabric::this_fiber::give_turn_if_due();
      return read;
    });
    if (code != Code::kOk) return Status(code);
  }
  return {};
}

template <fabric::Endpoint E>
Status Session<E>::put_all(std::span<const std::pair<std::string_view, std::string_view>> pairs,
                           const PutOptions& options) {
  auto placed = place_all(pairs, &KeyValueView::first);
  if (!placed.ok()) return placed.status();
  for (const auto& pair : pairs) {
    if (auto status = check_value(pair.second.size()); !status.ok()) return status;
  }
  return with_room(*placed, [&] { return put_all_once(*placed, pairs, options); });
}

template <fabric::Endpoint E>
Status Session<E>::put_all_once(std::span<const Location> locations,
                                std::span<const KeyValueView> pairs, const PutOptions& options) {
  StripeSet stripes(*this, locations);
  if (auto status = stripes.acquire(locks::Mode::kWrite); !status.ok()) return status;
  std::vector<PlannedWrite> writes;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    writes.push_back({locations[i], pairs[i].first, pairs[i].second.size(),
                      options.expires_at_ms != kNoExpiry, options.keep_expiry});
    if (options.when == PutIf::kAlways) continue;
    Found found;
    const Code code = with_access(locations[i].rank, [&](auto access) {
      return locate(access, locations[i], pairs[i].first, found);
    });
    if (code != Code::kOk) return Status(code);
    if (options.when == PutIf::kAbsent && found.live()) return Status(Code::kExists);
    if (options.when == PutIf::kPresent && !found.live()) return Status(Code::kNotFound);
  }
  if (auto status = reserve_writes(writes); !status.ok()) return status;
  return mutate_all(
      locations, pairs, &KeyValueView::first, [&](std::size_t i, const ElementPart* old) {
        const bool keep = options.keep_expiry && old != nullptr;
        return Decision::write(pairs[i].second, keep ? old->expires_at_ms : options.expires_at_ms);
      });
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::erase_all(std::span<const std::string_view> keys) {
  auto placed = place_all(keys, std::identity());
  if (!placed.ok()) return placed.status();
  const std::vector<Location>& locations = *placed;
  StripeSet stripes(*this, locations);
  if (auto status = stripes.acquire(locks::Mode::kWrite); !status.ok()) return status;
  std::uint64_t erased = 0;
  Status status =
      mutate_all(locations, keys, std::identity(), [&](std::size_t, const ElementPart* old) {
        erased += old != nullptr;
        return old != nullptr ? Decision::erase() : Decision();
      });
  if (!status.ok()) return status;
  return erased;
}

}  // namespace keyway::store
