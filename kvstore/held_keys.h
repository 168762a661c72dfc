// HeldKeys<E>: several keys with all their stripes held by one operation.
//
// *What.* It locks the stripes, on any ranks, and releases them in its destructor; in between, the
// keys are read and changed as one step. Keys of other nodes are worked on at the same time, each
// in a lane: so an operation on many of them takes the round trips of a few. A body may decide on
// drafts, copies of the elements: changed drafts are written once room for all of them is leased,
// all or nothing.
// *Thread safety.* One session's.
// *Invariants.* K3 and K5 of session.h; T1 of expiry_clock.h: one time for all keys.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/kvstore/session_core.h"
#include "keyway/locks/fabric/overlap.h"
#include "keyway/locks/fabric/time_slice.h"

namespace keyway::store {

template <fabric::Endpoint E>
class HeldKeys {
 public:
  /// The locations outlive it.
  HeldKeys(SessionCore<E>& core, std::span<const Location> locations)
      : core_(core), locations_(locations), stripes_(core.gate, locations) {
    for (const Location& location : locations) {
      if (core_.ep.is_local(location.rank)) core_.prefetch(location, locks::Mode::kWrite);
    }
    core_.clock.begin_all(stripes_.stripes());
    core_.reserve.begin();
  }
  HeldKeys(const HeldKeys&) = delete;
  HeldKeys& operator=(const HeldKeys&) = delete;
  ~HeldKeys() noexcept(false) {
    if (pinned_) core_.clock.unpin();
    stripes_.release();
    core_.freed.collect();
    core_.heap.trim();
    core_.shrink_lanes();
  }

  /// Before all else; the others need its success.
  Status acquire(locks::Mode mode) { return acquire(mode, core_.gate.begun()); }
  Status acquire(locks::Mode mode, Deadline until) {
    Status status = stripes_.acquire(mode, until);
    if (!status.ok()) return status;
    core_.clock.pin();
    pinned_ = true;
    return status;
  }

  Status read(std::span<const std::string_view> keys, ElementsReader reader);
  /// The same as acquire() and read(), with the locks of this node's keys alone: the others are
  /// read without (OR4 of optimistic_reader.h). Nothing if that cannot be.
  static std::optional<Status> read_together(SessionCore<E>& core,
                                             std::span<const Location> locations,
                                             std::span<const std::string_view> keys,
                                             ElementsReader reader, Deadline until);
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
  /// The keys of other nodes, those of a stripe one after the other.
  struct RemoteKeys {
    std::vector<std::size_t> keys;
    std::vector<std::size_t> begins;  // a place in `keys` for each stripe

    RemoteKeys(const SessionCore<E>& core, std::span<const Location> locations);
    std::size_t stripes() const { return begins.size(); }
    std::span<const std::size_t> of(std::size_t stripe) const {
      const std::size_t end = stripe + 1 < begins.size() ? begins[stripe + 1] : keys.size();
      return std::span(keys).subspan(begins[stripe], end - begins[stripe]);
    }
  };

  static Status half_done(std::size_t done, std::size_t all);
  /// Calls use(i, lane, in_turn) for each key, which returns a Code, and ends with the first other
  /// than kOk. For keys of other nodes it is called at the same time, and may return nothing: then
  /// it is called again in the key's turn.
  template <class Use>
  Code for_each(std::size_t keys, Use&& use);
  std::optional<Code> draft_one(std::size_t i, Lane<E>& lane, bool in_turn, std::string_view key,
                                const KeyVersion* version, ElementDraft& draft);
  /// Shows what find() has found with this lane.
  static Code show_one(Lane<E>& lane, E& ep, std::uint32_t rank, const Found& found,
                       FunctionRef<void(const ElementState*)> show);
  /// The result of prepare().
  struct Prepared {
    std::size_t lanes = 1;
    bool surveyed = false;  // lines and elements of all keys are at hand
  };
  /// Before the first change: room in the lanes for all that is read and composed (K3), and marks
  /// on the elements (K8). key_at(i) is the i-th key.
  template <class KeyAt>
  Prepared prepare(std::span<const Location> locations, std::size_t remote_stripes, KeyAt&& key_at);
  bool is_remote(std::size_t i) const { return !core_.ep.is_local(locations_[i].rank); }

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
HeldKeys<E>::RemoteKeys::RemoteKeys(const SessionCore<E>& core,
                                    std::span<const Location> locations) {
  for (std::size_t i = 0; i < locations.size(); ++i) {
    if (!core.ep.is_local(locations[i].rank)) keys.push_back(i);
  }
  const auto stripe_of = [&](std::size_t i) {
    return std::pair(locations[i].rank, locations[i].stripe);
  };
  std::stable_sort(keys.begin(), keys.end(),
                   [&](std::size_t a, std::size_t b) { return stripe_of(a) < stripe_of(b); });
  for (std::size_t n = 0; n < keys.size(); ++n) {
    if (n == 0 || stripe_of(keys[n]) != stripe_of(keys[n - 1])) begins.push_back(n);
  }
}

template <fabric::Endpoint E>
template <class Items, class KeyOf, class Mutate>
Status HeldKeys<E>::change(std::span<const Location> locations, const Items& items, KeyOf key_of,
                           Mutate&& mutate) {
  core_.freed.reserve(locations.size() * FreedBlocks<E>::kMaxOfWrite);
  const RemoteKeys remote(core_, locations);
  const auto key_at = [&](std::size_t i) { return std::invoke(key_of, items[i]); };
  Prepared ready;  // one key fails before it changes
  if (locations.size() > 1) ready = prepare(locations, remote.stripes(), key_at);
  std::size_t done = 0;
  Status failed;
  const auto change_one = [&](std::size_t i, Lane<E>& lane, bool at_hand) {
    const Location& location = locations[i];
    const BlockAtHand block = at_hand ? core_.survey.block(i) : BlockAtHand();
    if (at_hand) lane.counters.read_none();
    Status status = fabric::with_access(core_.ep, location.rank, [&](auto access) {
      return core_.change_locked(
          lane, access, location, key_at(i), ValueRange::none(),
          [&](const ElementPart* old) { return mutate(i, old); },
          at_hand ? &core_.survey.first_line(i) : nullptr, block);
    });
    if (status == Code::kOutOfSpace) status = half_done(done, locations.size());
    if (!status.ok()) failed = std::move(status);
    ++done;
    core_.ep.flush(location.rank);  // the buffers of a posted write are used again by the next
  };
  fabric::overlap_steps(
      core_.ep, remote.stripes(), ready.lanes, [&](std::size_t n, std::size_t lane) {
        const std::span<const std::size_t> keys = remote.of(n);
        for (std::size_t k = 0; k < keys.size() && failed.ok(); ++k) {
          const auto shares_bucket = [&](std::size_t earlier) {
            return locations[earlier].bucket == locations[keys[k]].bucket;
          };
          const auto before = keys.first(k);
          const bool at_hand =
              ready.surveyed && std::none_of(before.begin(), before.end(), shares_bucket);
          change_one(keys[k], core_.lane_at(lane), at_hand);
        }
      });
  for (std::size_t i = 0; i < locations.size() && failed.ok(); ++i) {
    if (!core_.ep.is_local(locations[i].rank)) continue;
    fabric::this_fiber::yield_if_due(i);
    change_one(i, core_.lane, false);
  }
  return failed;
}

template <fabric::Endpoint E>
template <class KeyAt>
auto HeldKeys<E>::prepare(std::span<const Location> locations, std::size_t remote_stripes,
                          KeyAt&& key_at) -> Prepared {
  if (core_.ep.one_class()) {  // the set of stripes says so to readers without locks (K9)
    core_.reserve.local_reads(locations);
    core_.reserve.give(core_.lane);
    return {};
  }
  constexpr std::size_t kAtOnce = KeySurvey<E>::kAtOnce;
  const auto survey = [&](auto&& use) {
    for (std::size_t from = 0; from < locations.size(); from += kAtOnce) {
      const auto part = locations.subspan(from, std::min(kAtOnce, locations.size() - from));
      core_.survey.read(part, [&](std::size_t i) { return key_at(from + i); });
      use(part);
    }
  };
  const auto note = [&](auto) { core_.reserve.reads(core_.survey, locations.size()); };
  const auto mark = [&](auto part) { core_.marks.post(part, core_.survey); };
  survey(note);
  const std::size_t most = std::min(core_.reserve.lanes(), fabric::Overlap::kMaxBodies);
  const std::size_t lanes = std::clamp<std::size_t>(remote_stripes, 1, most);
  const bool surveyed = locations.size() <= kAtOnce;
  core_.make_lanes(lanes);
  for (std::size_t i = 0; i < lanes; ++i) core_.reserve.give(core_.lane_at(i));
  if (surveyed) {
    mark(locations);
  } else {
    survey(mark);
  }
  core_.marks.complete();
  return {lanes, surveyed};
}

template <fabric::Endpoint E>
template <class Use>
Code HeldKeys<E>::for_each(std::size_t keys, Use&& use) {
  Code first = Code::kOk;
  std::vector<std::size_t> remote;
  for (std::size_t i = 0; i < keys; ++i) {
    if (is_remote(i)) remote.push_back(i);
  }
  std::vector<bool> done(remote.empty() ? 0 : keys);
  const std::size_t lanes = std::min(remote.size(), fabric::Overlap::kMaxBodies);
  core_.make_lanes(lanes);
  fabric::overlap_steps(core_.ep, remote.size(), lanes, [&](std::size_t n, std::size_t lane) {
    if (first != Code::kOk) return;
    const std::optional<Code> code = use(remote[n], core_.lane_at(lane), false);
    done[remote[n]] = code.has_value();
    if (code && *code != Code::kOk) first = *code;
  });
  for (std::size_t i = 0; i < keys && first == Code::kOk; ++i) {
    if (!done.empty() && done[i]) continue;
    fabric::this_fiber::yield_if_due(i);
    first = *use(i, core_.lane, true);
  }
  return first;
}

template <fabric::Endpoint E>
Code HeldKeys<E>::presence(std::span<const PlannedWrite> writes, PutIf when) {
  if (when == PutIf::kAlways) return Code::kOk;
  return for_each(writes.size(), [&](std::size_t i, Lane<E>& lane, bool) -> std::optional<Code> {
    Found found;
    const Code code = fabric::with_access(core_.ep, writes[i].location.rank, [&](auto access) {
      return lane.chain.locate(access, writes[i].location, writes[i].key, found);
    });
    return code == Code::kOk ? check_presence(when, found.live()) : code;
  });
}

template <fabric::Endpoint E>
Status HeldKeys<E>::draft(std::span<const std::string_view> keys,
                          std::span<const KeyVersion> versions, std::span<ElementDraft> drafts) {
  const Code code = for_each(keys.size(), [&](std::size_t i, Lane<E>& lane, bool in_turn) {
    const KeyVersion* version = i < versions.size() ? &versions[i] : nullptr;
    return draft_one(i, lane, in_turn, keys[i], version, drafts[i]);
  });
  if (code == Code::kMismatch) return {code, "a key has changed since it was looked at"};
  return Status(code);
}

/// A long value is read in its key's turn, so that there is one of them at a time.
template <fabric::Endpoint E>
std::optional<Code> HeldKeys<E>::draft_one(std::size_t i, Lane<E>& lane, bool in_turn,
                                           std::string_view key, const KeyVersion* version,
                                           ElementDraft& draft) {
  const Location& location = locations_[i];
  return fabric::with_access(core_.ep, location.rank, [&](auto access) -> std::optional<Code> {
    Found found;
    const Code located = lane.chain.locate(access, location, key, found);
    if (located != Code::kOk) return located;
    if (version != nullptr && lane.chain.version_of(access, location, found) != *version) {
      return Code::kMismatch;
    }
    if (!found.live()) return Code::kOk;
    if (!found.whole && !in_turn) return std::nullopt;
    ElementPart part;
    const Code shown = lane.reader.show(access, location.rank, found, ValueRange::whole(), part);
    if (shown == Code::kOk) {
      draft = ElementDraft({fabric::copy_in_parts(part.bytes), part.expires_at_ms});
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
