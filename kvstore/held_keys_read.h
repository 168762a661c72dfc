// HeldKeys<E>: reading. Included by session_several.h.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "keyway/kvstore/held_keys.h"
#include "keyway/locks/fabric/overlap.h"
#include "keyway/locks/fabric/time_slice.h"

namespace keyway::store {

template <fabric::Endpoint E>
Status HeldKeys<E>::read(std::span<const std::string_view> keys, ElementsReader reader) {
  constexpr std::size_t kWindow = fabric::Overlap::kMaxBodies;
  for (std::size_t from = 0; from < keys.size(); from += kWindow) {
    const std::size_t n = std::min(kWindow, keys.size() - from);
    core_.prefetch_elements(locations_.subspan(from, n));
    std::array<std::size_t, kWindow> remote;
    std::size_t remotes = 0;
    for (std::size_t i = from; i < from + n; ++i) {
      if (is_remote(i)) remote[remotes++] = i;
    }
    // They are shown from their lanes. The first one is for the local keys.
    core_.make_lanes(1 + remotes);
    std::array<Found, kWindow> found;
    std::array<Code, kWindow> codes;
    const auto find = [&](auto access, std::size_t i, Lane<E>& lane) {
      codes[i - from] = lane.chain.find(access, locations_[i], nullptr, keys[i], found[i - from]);
    };
    fabric::overlap_steps(core_.ep, remotes, remotes, [&](std::size_t r, std::size_t) {
      find(fabric::rma, remote[r], core_.lane_at(1 + r));
    });
    for (std::size_t i = from, r = 0; i < from + n; ++i) {
      fabric::this_fiber::yield_if_due(i);
      Lane<E>& lane = is_remote(i) ? core_.lane_at(1 + r++) : core_.lane;
      if (!is_remote(i)) find(fabric::cpu, i, lane);
      Code code = codes[i - from];
      if (code == Code::kOk) {
        code = show_one(lane, core_.ep, locations_[i].rank, found[i - from],
                        [&](const ElementState* element) { reader(i, element); });
      }
      if (code != Code::kOk) return Status(code);
    }
  }
  return {};
}

template <fabric::Endpoint E>
std::optional<Status> HeldKeys<E>::read_together(SessionCore<E>& core,
                                                 std::span<const Location> locations,
                                                 std::span<const std::string_view> keys,
                                                 ElementsReader reader, Deadline until) {
  const auto is_local = [&](const Location& location) { return core.ep.is_local(location.rank); };
  // More keys than a batch has are rare, and their copies would be large.
  if (keys.size() > kBatchWindow || core.gate.holds_all()) return {};
  if (std::all_of(locations.begin(), locations.end(), is_local)) return {};
  const auto late_or_locks = [&]() -> std::optional<Status> {
    if (core.optimistic.late().empty()) return {};
    return core.gate.no_answer(core.optimistic.late().front());
  };
  if (!core.optimistic.begin_together(locations, keys, until)) return late_or_locks();
  std::vector<Location> local;
  std::copy_if(locations.begin(), locations.end(), std::back_inserter(local), is_local);
  HeldKeys<E> held(core, local);
  if (Status status = held.acquire(locks::Mode::kRead, until); !status.ok()) return status;
  if (!core.optimistic.end_together(until)) return late_or_locks();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    fabric::this_fiber::yield_if_due(i);
    if (!is_local(locations[i])) {
      const ElementState state{core.optimistic.value_of(i), kNoExpiry};
      reader(i, &state);
      continue;
    }
    Found found;
    Code code = core.chain.find(fabric::cpu, locations[i], nullptr, keys[i], found);
    if (code == Code::kOk) {
      code = show_one(core.lane, core.ep, locations[i].rank, found,
                      [&](const ElementState* element) { reader(i, element); });
    }
    if (code != Code::kOk) return Status(code);
  }
  return Status();
}

template <fabric::Endpoint E>
Code HeldKeys<E>::show_one(Lane<E>& lane, E& ep, std::uint32_t rank, const Found& found,
                           FunctionRef<void(const ElementState*)> show) {
  if (!found.live()) {
    show(nullptr);
    return Code::kOk;
  }
  ElementPart part;
  const Code code = fabric::with_access(ep, rank, [&](auto access) {
    return lane.reader.show(access, rank, found, ValueRange::whole(), part);
  });
  if (code != Code::kOk) return code;
  const ElementState state{part.bytes, part.expires_at_ms};
  show(&state);
  if (state.value.size() > fabric::kSliceBytes) fabric::this_fiber::yield_if_due();
  return Code::kOk;
}

}  // namespace keyway::store
