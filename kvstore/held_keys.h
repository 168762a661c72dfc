// HeldKeys<E>: several keys with all their stripes held by one operation.
//
// *What.* It locks the stripes in order, on any ranks, and releases them in its destructor; in
// between, the keys are read and changed as one step. A body may decide on drafts, copies of the
// elements: changed drafts are written once room for all of them is leased, all or nothing.
// *Thread safety.* One session's.
// *Invariants.* K3 and K5 of session.h; T1 of expiry_clock.h: one time for all keys.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/kvstore/session_core.h"
#include "keyway/locks/fabric/time_slice.h"

namespace keyway::store {

template <fabric::Endpoint E>
class HeldKeys {
 public:
  /// The locations outlive it.
  HeldKeys(SessionCore<E>& core, std::span<const Location> locations)
      : core_(core), locations_(locations), stripes_(core.gate, locations) {
    for (const Location& location : locations) {
      if (core_.ep.is_local(location.rank)) core_.prefetch(location);
    }
    core_.clock.begin_all(stripes_.stripes());
  }
  HeldKeys(const HeldKeys&) = delete;
  HeldKeys& operator=(const HeldKeys&) = delete;
  ~HeldKeys() noexcept(false) {
    if (pinned_) core_.clock.unpin();
    stripes_.release();
    core_.freed.collect();
    core_.heap.trim();
    core_.shrink_buffers();
  }

  /// Before all else; the others need its success.
  Status acquire(locks::Mode mode) {
    Status status = stripes_.acquire(mode);
    if (!status.ok()) return status;
    core_.clock.pin();
    pinned_ = true;
    return status;
  }

  Status read(std::span<const std::string_view> keys, ElementsReader reader);
  /// Whether each key is there, or none, as the options of a put want it.
  Code presence(std::span<const PlannedWrite> writes, PutIf when);
  /// Copies the elements; kMismatch if a key's version differs from the given one.
  Status draft(std::span<const std::string_view> keys, std::span<const KeyVersion> versions,
               std::span<ElementDraft> drafts);
  /// Writes and erases what the drafts say, all or nothing (K3).
  Status write(std::span<const std::string_view> keys, std::span<const ElementDraft> drafts);
  /// Changes items at these locations: mutate(i, element) decides on the i-th. K3: from the first
  /// change on, nothing of this session's memory is allocated; blocks of what is written have been
  /// reserved. Only a damaged element ends it half-way (kCorruption).
  template <class Items, class KeyOf, class Mutate>
  Status change(std::span<const Location> locations, const Items& items, KeyOf key_of,
                Mutate&& mutate);

 private:
  static Status half_done(std::size_t done, std::size_t all);
  Code draft_one(const Location& location, std::string_view key, const KeyVersion* version,
                 ElementDraft& draft);

  SessionCore<E>& core_;
  std::span<const Location> locations_;
  StripeSet<E> stripes_;
  bool pinned_ = false;
};

/// Room was leased for all writes (K3), and was not enough: a defect of WriteReserve. Not
/// kOutOfSpace, which says that nothing was written and may be tried again.
template <fabric::Endpoint E>
Status HeldKeys<E>::half_done(std::size_t done, std::size_t all) {
  return {
      Code::kCorruption,
      fmt::format("the room that was reserved for {} elements was enough for {}: only these are "
                  "written; please report this",
                  all, done)};
}

template <fabric::Endpoint E>
template <class Items, class KeyOf, class Mutate>
Status HeldKeys<E>::change(std::span<const Location> locations, const Items& items, KeyOf key_of,
                           Mutate&& mutate) {
  core_.freed.reserve(locations.size() * FreedBlocks<E>::kMaxOfWrite);
  if (locations.size() > 1) {  // one key fails before it changes
    core_.reserve.reads(locations);
    // K8. Where all ranks are one node there are no readers without locks.
    if (!core_.ep.one_class()) {
      core_.marks.mark(locations, [&](std::size_t i) { return std::invoke(key_of, items[i]); });
    }
  }
  for (std::size_t i = 0; i < locations.size(); ++i) {
    fabric::this_fiber::yield_if_due(i);
    Status status = fabric::with_access(core_.ep, locations[i].rank, [&](auto access) {
      return core_.change_locked(access, locations[i], std::invoke(key_of, items[i]),
                                 ValueRange::none(),
                                 [&](const ElementPart* old) { return mutate(i, old); });
    });
    if (status == Code::kOutOfSpace) return half_done(i, locations.size());
    if (!status.ok()) return status;
    core_.ep.flush(locations[i].rank);  // the buffers of a posted write are used again by the next
  }
  return {};
}

template <fabric::Endpoint E>
Status HeldKeys<E>::read(std::span<const std::string_view> keys, ElementsReader reader) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    fabric::this_fiber::yield_if_due(i);
    if (i % kPrefetchWindow == 0) {
      core_.prefetch_elements(
          locations_.subspan(i, std::min(kPrefetchWindow, locations_.size() - i)));
    }
    const Location& location = locations_[i];
    const Code code = fabric::with_access(core_.ep, location.rank, [&](auto access) {
      Found found;
      ElementPart part;
      Code read = core_.chain.find(access, location, nullptr, keys[i], found);
      if (read == Code::kOk && found.live()) {
        read = core_.reader.show(access, location.rank, found, ValueRange::whole(), part);
      }
      const ElementState state{part.bytes, part.expires_at_ms};
      if (read == Code::kOk) reader(i, found.live() ? &state : nullptr);
      if (state.value.size() > fabric::kSliceBytes) fabric::this_fiber::yield_if_due();
      return read;
    });
    if (code != Code::kOk) return Status(code);
  }
  return {};
}

template <fabric::Endpoint E>
Code HeldKeys<E>::presence(std::span<const PlannedWrite> writes, PutIf when) {
  if (when == PutIf::kAlways) return Code::kOk;
  for (const PlannedWrite& write : writes) {
    Found found;
    Code code = fabric::with_access(core_.ep, write.location.rank, [&](auto access) {
      return core_.chain.locate(access, write.location, write.key, found);
    });
    if (code == Code::kOk) code = check_presence(when, found.live());
    if (code != Code::kOk) return code;
  }
  return Code::kOk;
}

template <fabric::Endpoint E>
Status HeldKeys<E>::draft(std::span<const std::string_view> keys,
                          std::span<const KeyVersion> versions, std::span<ElementDraft> drafts) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    fabric::this_fiber::yield_if_due(i);
    const KeyVersion* version = i < versions.size() ? &versions[i] : nullptr;
    const Code code = draft_one(locations_[i], keys[i], version, drafts[i]);
    if (code == Code::kMismatch) return {code, "a key has changed since it was looked at"};
    if (code != Code::kOk) return Status(code);
  }
  return {};
}

template <fabric::Endpoint E>
Code HeldKeys<E>::draft_one(const Location& location, std::string_view key,
                            const KeyVersion* version, ElementDraft& draft) {
  return fabric::with_access(core_.ep, location.rank, [&](auto access) {
    Found found;
    const Code located = core_.chain.locate(access, location, key, found);
    if (located != Code::kOk) return located;
    if (version != nullptr && core_.chain.version_of(access, location, found) != *version) {
      return Code::kMismatch;
    }
    if (!found.live()) return Code::kOk;
    ElementPart part;
    const Code shown = core_.reader.show(access, location.rank, found, ValueRange::whole(), part);
    if (shown == Code::kOk) {
      std::string value;
      fabric::assign_in_parts(value, part.bytes);
      draft = ElementDraft({std::move(value), part.expires_at_ms});
    }
    return shown;
  });
}

template <fabric::Endpoint E>
Status HeldKeys<E>::write(std::span<const std::string_view> keys,
                          std::span<const ElementDraft> drafts) {
  std::vector<Location> places;
  std::vector<std::size_t> changed;
  std::vector<PlannedWrite> writes;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const ElementDraft& draft = drafts[i];
    if (!draft.changed()) continue;
    places.push_back(locations_[i]);
    changed.push_back(i);
    if (!draft.there()) continue;
    const std::uint64_t bytes = draft->value.size();
    if (auto status = check_value(bytes); !status.ok()) return status;
    writes.push_back({locations_[i], keys[i], bytes, draft->expires_at_ms != kNoExpiry});
  }
  if (auto status = core_.reserve.writes(writes); !status.ok()) return status;
  const auto key_of = [&](std::size_t i) { return keys[i]; };
  return change(places, changed, key_of, [&](std::size_t n, const ElementPart* old) {
    const ElementDraft& draft = drafts[changed[n]];
    if (draft.there()) return Decision::write(draft->value, draft->expires_at_ms);
    return old != nullptr ? Decision::erase() : Decision();
  });
}

}  // namespace keyway::store
