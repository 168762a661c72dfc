// RoomMaker<E>: tries an operation again when the heap was full and room could be made.
//
// *What.* First a sweep removes what has expired; then elements move out of sparse chunks, but not
// before a search of the heap, if a search of a moment ago was in vain (full_heap.h).
// *Thread safety.* One session's.
// *Progress.* An operation empties chunks at most kMaxMoves times, by one deadline, and fails when
// a plan or a walk has gained nothing, or others have taken what it has gained. After that the
// session makes a pause (move_pace.h), and its next plan passes over the chunks of this one. It
// waits for stripes' locks one at a time, by that deadline, and holds no other lock then: so a walk
// that meets a walk, or any operation, waits as two operations wait for each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "keyway/kvstore/room/mover.h"
#include "keyway/kvstore/walks/sweeper.h"

namespace keyway::store {

template <fabric::Endpoint E>
class RoomMaker {
 public:
  /// The maximum number of times that an operation empties chunks. Once may not be enough: the
  /// operation may lack blocks of several sizes, and others may take the room that it has made.
  static constexpr std::uint32_t kMaxMoves = 4;
  /// The pause between two sweeps by a session with writes that find the heap full.
  static constexpr std::uint64_t kSweepPauseNs = 100'000'000;

  RoomMaker(E& ep, const Geometry& geometry, Heap<E>& heap, StripeGate<E>& gate,
            VolumeCounters<E>& counters, Sweeper<E>& sweeper, Mover<E>& mover, MovePace& pace)
      : ep_(ep),
        geometry_(geometry),
        heap_(heap),
        gate_(gate),
        counters_(counters),
        sweeper_(sweeper),
        mover_(mover),
        pace_(pace) {}
  RoomMaker(const RoomMaker&) = delete;
  RoomMaker& operator=(const RoomMaker&) = delete;

  /// Calls attempt(), a Status, and again where it found a heap full and room could be made. No
  /// stripe is locked between.
  template <class Attempt>
  Status with_room(std::span<const Location> locations, Attempt&& attempt) {
    heap_.take_shortage();
    Status status = attempt();
    if (status != Code::kOutOfSpace) [[likely]]
      return status;
    if (sweep(locations)) status = attempt();
    if (status == Code::kOutOfSpace && searches(locations)) status = attempt();
    // trim() returns the blocks that a move sets aside and the operation does not use.
    const std::unique_ptr<Heap<E>, void (*)(Heap<E>*)> at_end(&heap_,
                                                              [](Heap<E>* heap) { heap->trim(); });
    const Deadline until = gate_.begun();
    for (std::uint32_t i = 0; i < kMaxMoves && status == Code::kOutOfSpace; ++i) {
      if (!move(until)) break;
      status = attempt();
    }
    return status;
  }

 private:
  bool sweep(std::span<const Location> places);
  bool searches(std::span<const Location> places);
  bool move(Deadline until);

  E& ep_;
  const Geometry& geometry_;
  Heap<E>& heap_;
  StripeGate<E>& gate_;
  VolumeCounters<E>& counters_;
  Sweeper<E>& sweeper_;
  Mover<E>& mover_;
  MovePace& pace_;
  std::uint64_t next_sweep_ns_ = 0;
};

/// Sweeps the volumes of these places, those that hold anything that expires, unless a sweep a
/// moment ago found nothing: a store that is full must not walk its table for every write that
/// fails. True when something went.
template <fabric::Endpoint E>
bool RoomMaker<E>::sweep(std::span<const Location> places) {
  const std::uint64_t now = ep_.now_ns();
  if (now < next_sweep_ns_) return false;
  std::vector<std::uint32_t> ranks;
  for (const Location& place : places) ranks.push_back(place.rank);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  bool found = false;
  for (const std::uint32_t rank : ranks) {
    if (!counters_.any_expires(rank)) continue;
    const auto swept = sweeper_.sweep(rank);
    found = found || (swept.ok() && *swept > 0);
  }
  if (!found) next_sweep_ns_ = now + kSweepPauseNs;
  return found;
}

/// If the last attempt has made no search, and a move is due: lets the next attempt search first.
template <fabric::Endpoint E>
bool RoomMaker<E>::searches(std::span<const Location> places) {
  const auto& lacking = heap_.shortage();
  if (!lacking || lacking->searched || pace_.pauses(*lacking, ep_.now_ns())) return false;
  for (const Location& place : places) heap_.expect_room(place.rank);
  return true;
}

/// Empties chunks for what the last attempt lacked. True when it may be tried again.
template <fabric::Endpoint E>
bool RoomMaker<E>::move(Deadline until) {
  const std::optional<Shortage> lacking = heap_.take_shortage();
  const std::uint64_t began = ep_.now_ns();
  if (!lacking || lacking->chunks > geometry_.chunks()) return false;
  if (pace_.pauses(*lacking, began)) return false;
  bool gained = false;
  if (heap_.begin_move(*lacking)) {
    typename Heap<E>::MoveEnd at_end(heap_);
    try {
      mover_.move_volume(lacking->rank, until);
    } catch (const std::bad_alloc&) {  // H5: the stripe is unlocked, and the bucket is as it was
    }
    gained = at_end.now();
  }
  if (!gained) pace_.in_vain(*lacking, began, ep_.now_ns());
  return gained;
}

}  // namespace keyway::store
