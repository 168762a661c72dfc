// Session<E>: several keys in one call. Included by session.h.
//
// get_many() is a batch of single gets that overlaps their cache misses; the others are atomic:
// they hold the locks of all their stripes at once, on whatever ranks these are (K5).
#pragma once

#include <algorithm>

#include "keyway/kvstore/session.h"

namespace keyway::store {

/// Keys of a batch get that are in flight together: enough misses to fill a core's line buffers.
inline constexpr std::size_t kPrefetchWindow = 16;

/// The stripes of several keys, locked in order, released when it goes.
template <fabric::Endpoint E>
class Session<E>::StripeSet {
 public:
  StripeSet(Session& session, std::span<const Location> locations) : session_(session) {
    held_.reserve(locations.size());
    for (const auto& location : locations) held_.push_back({location.rank, location.stripe, {}});
    const auto before = [](const Held& a, const Held& b) {
      return std::pair(a.rank, a.stripe) < std::pair(b.rank, b.stripe);
    };
    std::sort(held_.begin(), held_.end(), before);  // K5
    const auto same = [](const Held& a, const Held& b) {
      return a.rank == b.rank && a.stripe == b.stripe;
    };
    held_.erase(std::unique(held_.begin(), held_.end(), same), held_.end());
  }
  StripeSet(const StripeSet&) = delete;
  StripeSet& operator=(const StripeSet&) = delete;
  ~StripeSet() { release(); }

  Status acquire(locks::Mode mode) {
    const Deadline until = session_.deadline().started(session_.ep_.now_ns());
    for (Held& held : held_) {
      auto grant = session_.lock_.acquire(session_.agent_, site(held), mode, until);
      if (!grant.ok()) return grant.status();
      held.grant = *grant;
      ++locked_;
    }
    return {};
  }

  void release() {
    while (locked_ > 0) {
      Held& held = held_[--locked_];
      session_.lock_.release(session_.agent_, site(held), held.grant);
    }
    session_.collect_garbage();
  }

 private:
  struct Held {
    std::uint32_t rank;
    std::uint64_t stripe;
    locks::Grant grant;
  };
  locks::LockSite site(const Held& held) const {
    return session_.geometry_.lock_site(held.rank, held.stripe);
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
    window[i] = place(keys[i]);
    if (ep_.is_local(window[i].rank)) prefetch(fabric::cpu, window[i]);
  }
  prefetch_window(std::span(window).first(keys.size()));
  for (std::size_t i = 0; i < keys.size(); ++i) codes[i] = get(keys[i], out[i]).code();
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

template <fabric::Endpoint E>
Status Session<E>::get_all(std::span<const std::string_view> keys,
                           std::vector<std::optional<std::string>>& out) {
  std::vector<Location> locations;
  for (const auto key : keys) {
    if (auto status = check_key(key); !status.ok()) return status;
    locations.push_back(place(key));
  }
  StripeSet stripes(*this, locations);
  if (auto status = stripes.acquire(locks::Mode::kRead); !status.ok()) return status;
  out.assign(keys.size(), std::nullopt);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Code code = with_access(locations[i].rank, [&](auto access) {
      Found found;
      const Code located = locate(access, locations[i], keys[i], found);
      if (found.live()) out[i].emplace(found.element.value);
      return located;
    });
    if (code != Code::kOk) return Status(code);
  }
  return {};
}

/// How many blocks of which size several writes need.
template <fabric::Endpoint E>
class Session<E>::BlockNeeds {
 public:
  void add(std::uint32_t rank, std::uint64_t bytes) {
    const std::uint32_t c = class_for(bytes);
    const std::uint64_t size = c == kRunClass ? run_chunks(bytes) * kChunkBytes : class_bytes(c);
    for (Need& need : needs_) {
      if (need.rank == rank && need.bytes == size) {
        ++need.count;
        return;
      }
    }
    needs_.push_back({rank, size, 1});
  }
  /// Leases them all, or says no.
  bool reserve(Heap<E>& heap) const {
    for (const Need& need : needs_) {
      if (!heap.ensure(need.rank, need.bytes, need.count)) return false;
    }
    // A later ensure() may have given back what an earlier one leased.
    return std::all_of(needs_.begin(), needs_.end(), [&](const Need& need) {
      return heap.ready(need.rank, need.bytes, need.count);
    });
  }

 private:
  struct Need {
    std::uint32_t rank;
    std::uint64_t bytes;  // of the class, or of the whole run
    std::uint64_t count;
  };
  std::vector<Need> needs_;
};

/// What the writes can need at most: no element is looked at for this.
template <fabric::Endpoint E>
void Session<E>::need_at_most(BlockNeeds& needs, std::span<const PlannedWrite> writes) const {
  for (PlannedWrite write : writes) {
    const std::uint32_t rank = write.location.rank;
    if (!write.inlined()) needs.add(rank, write.bytes());
    if (write.keep_expiry) {  // or else an element of the other kind, which has another size
      write.expires = !write.expires;
      if (!write.inlined()) needs.add(rank, write.bytes());
    }
    needs.add(rank, kBucketBytes);  // an overflow bucket, should its line be full
  }
}

/// What they do need, from a look at each element: nothing for what can be rewritten where it is.
template <fabric::Endpoint E>
void Session<E>::need_exactly(BlockNeeds& needs, std::span<const PlannedWrite> writes) {
  std::vector<std::string_view> keys;
  for (const PlannedWrite& write : writes) keys.push_back(write.key);
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 0; i < writes.size(); ++i) {
    PlannedWrite write = writes[i];
    const auto named = std::equal_range(keys.begin(), keys.end(), write.key);
    const Location& location = write.location;
    Found found;
    const Code code = with_access(location.rank, [&](auto access) {
      return locate(access, location, write.key, found);
    });
    // A key that is named twice is not as it is now when its second turn comes.
    if (code != Code::kOk || named.second - named.first > 1) {
      need_at_most(needs, writes.subspan(i, 1));
      continue;
    }
    if (write.keep_expiry && found.live()) write.expires = found.element.expires_at_ms != kNoExpiry;
    if (fits_in_place(found, write.key.size(), write.value_bytes, write.expires)) continue;
    if (!write.inlined()) needs.add(location.rank, write.bytes());
    // An entry that replaces one at least as long finds room in that one's line.
    const bool room = found.at != 0 && !(write.inlined() && found.entry.kind() == EntryKind::kHeap);
    if (!room) needs.add(location.rank, kBucketBytes);
  }
}

/// Leases every block that the writes may need, so that none of them can fail half-way (K3). The
/// stripes are locked.
template <fabric::Endpoint E>
Status Session<E>::reserve_writes(std::span<const PlannedWrite> writes) {
  BlockNeeds most;
  need_at_most(most, writes);
  if (most.reserve(heap_)) return {};
  heap_.return_all();  // what we hold in other classes may be what is missing
  BlockNeeds exact;
  need_exactly(exact, writes);
  if (exact.reserve(heap_)) return {};
  heap_.return_all();  // a failure keeps no room from others
  return {Code::kOutOfSpace,
          fmt::format("the heap has no room for these {} elements at once; nothing was written",
                      writes.size())};
}

template <fabric::Endpoint E>
Status Session<E>::put_all(std::span<const std::pair<std::string_view, std::string_view>> pairs,
                           const PutOptions& options) {
  std::vector<Location> locations;
  for (const auto& [key, value] : pairs) {
    if (auto status = check_key(key); !status.ok()) return status;
    if (auto status = check_value(value.size()); !status.ok()) return status;
    locations.push_back(place(key));
  }
  StripeSet stripes(*this, locations);
  if (auto status = stripes.acquire(locks::Mode::kWrite); !status.ok()) return status;
  if (options.when != PutIf::kAlways) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      Found found;
      const Code code = with_access(locations[i].rank, [&](auto access) {
        return locate(access, locations[i], pairs[i].first, found);
      });
      if (code != Code::kOk) return Status(code);
      if (options.when == PutIf::kAbsent && found.live()) return Status(Code::kExists);
      if (options.when == PutIf::kPresent && !found.live()) return Status(Code::kNotFound);
    }
  }
  std::vector<PlannedWrite> writes;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    writes.push_back({locations[i], pairs[i].first, pairs[i].second.size(),
                      options.expires_at_ms != kNoExpiry, options.keep_expiry});
  }
  if (auto status = reserve_writes(writes); !status.ok()) return status;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Status status = with_access(locations[i].rank, [&](auto access) {
      return modify_locked(access, locations[i], pairs[i].first, [&](const ElementView* old) {
        const bool keep = options.keep_expiry && old != nullptr;
        return Decision::write(pairs[i].second, keep ? old->expires_at_ms : options.expires_at_ms);
      });
    });
    KW_CHECK_MSG(status.ok() || status == Code::kCorruption, "put_all", status.message());
    if (!status.ok()) return status;
    ep_.flush(locations[i].rank);  // the buffers of a posted write are used again by the next
  }
  heap_.trim();
  return {};
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::erase_all(std::span<const std::string_view> keys) {
  std::vector<Location> locations;
  for (const auto key : keys) {
    if (auto status = check_key(key); !status.ok()) return status;
    locations.push_back(place(key));
  }
  StripeSet stripes(*this, locations);
  if (auto status = stripes.acquire(locks::Mode::kWrite); !status.ok()) return status;
  std::uint64_t erased = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Status status = with_access(locations[i].rank, [&](auto access) {
      return modify_locked(access, locations[i], keys[i], [&](const ElementView* old) {
        erased += old != nullptr;
        return old != nullptr ? Decision::erase() : Decision();
      });
    });
    if (!status.ok()) return status;
    ep_.flush(locations[i].rank);
  }
  return erased;
}

template <fabric::Endpoint E>
Status Session<E>::transact(std::span<const std::string_view> keys, const TransactionBody& body) {
  std::vector<std::string_view> sorted(keys.begin(), keys.end());
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return {Code::kInvalidArgument, "a transaction names a key twice; name each key once"};
  }
  std::vector<Location> locations;
  for (const auto key : keys) {
    if (auto status = check_key(key); !status.ok()) return status;
    locations.push_back(place(key));
  }
  StripeSet stripes(*this, locations);
  if (auto status = stripes.acquire(locks::Mode::kWrite); !status.ok()) return status;

  std::vector<std::optional<std::string>> values(keys.size());
  std::vector<std::uint64_t> expiries(keys.size(), kNoExpiry);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Found found;
    const Code code = with_access(locations[i].rank, [&](auto access) {
      const Code located = locate(access, locations[i], keys[i], found);
      if (found.live()) values[i].emplace(found.element.value);
      return located;
    });
    if (code != Code::kOk) return Status(code);
    if (found.live()) expiries[i] = found.element.expires_at_ms;
  }
  if (!body(values)) return {Code::kMismatch, "the transaction's body declined to commit"};

  std::vector<PlannedWrite> writes;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!values[i]) continue;
    if (auto status = check_value(values[i]->size()); !status.ok()) return status;
    writes.push_back({locations[i], keys[i], values[i]->size(), expiries[i] != kNoExpiry});
  }
  if (auto status = reserve_writes(writes); !status.ok()) return status;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Status status = with_access(locations[i].rank, [&](auto access) {
      return modify_locked(access, locations[i], keys[i], [&](const ElementView* old) {
        if (values[i]) return Decision::write(*values[i], expiries[i]);
        return old != nullptr ? Decision::erase() : Decision();
      });
    });
    if (!status.ok()) return status;
    ep_.flush(locations[i].rank);
  }
  heap_.trim();
  return {};
}

}  // namespace keyway::store
