// SessionCore<E>: the objects of one session, and the way of an operation on one key through them.
//
// *What.* place() a key, enter() its stripe, let the chain find and change the element, leave the
// stripe, and free what has become free. Every read of one key is read_at(), every change of one
// key change(), or try_change() by its owner for another rank: the objects below know nothing of
// operations, and the operations nothing of them.
// *Thread safety.* One session's.
// *Invariants.* K1 to K9 of session.h.
// *Extension points.* A read that needs no lock, or that the owner makes, is answered at the top of
// read_at(), before the stripe is entered (read_unlocked()). An edit that travels to the key's
// owner leaves at the top of edit() (OwnerCaller). A record of each change is made in
// BucketChain::note().
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/layout/placed_keys.h"
#include "keyway/kvstore/owner/owner_caller.h"
#include "keyway/kvstore/room/room_maker.h"
#include "keyway/kvstore/room/write_reserve.h"
#include "keyway/kvstore/stripes/lock_advisor.h"
#include "keyway/kvstore/stripes/stripe_gate.h"
#include "keyway/kvstore/stripes/stripe_set.h"
#include "keyway/kvstore/types/decisions.h"
#include "keyway/kvstore/volume/bucket_chain.h"
#include "keyway/kvstore/volume/element_marks.h"
#include "keyway/kvstore/volume/key_survey.h"
#include "keyway/kvstore/volume/lane.h"
#include "keyway/kvstore/volume/local_reader.h"
#include "keyway/kvstore/volume/optimistic_reader.h"
#include "keyway/kvstore/walks/scanner.h"
#include "keyway/kvstore/walks/sweeper.h"

namespace keyway::store {

/// Keys of a batch get that are in flight together: enough misses to fill a core's line buffers.
inline constexpr std::size_t kPrefetchWindow = 16;
/// Keys of a batch get that are under way to other nodes together.
inline constexpr std::size_t kBatchWindow = 64;

template <fabric::Endpoint E>
struct SessionCore {
  SessionCore(E endpoint, const Geometry& geometry_of_store, const locks::StripeLock& lock,
              const SessionOptions& options);
  SessionCore(const SessionCore&) = delete;
  SessionCore& operator=(const SessionCore&) = delete;

  Location location(std::string_view key) const { return location_of(geometry, key, ep.ranks()); }
  /// The same for an operation, which may name a key that has been prefetched.
  Location place(std::string_view key) {
    const Location* const known = placed.take(key);
    return known != nullptr ? *known : location(key);
  }
  /// The misses of a local stripe's lock, or of what a read without it needs, and of its bucket
  /// overlap.
  /// `mode` is that of the operation that follows, if it is known.
  [[gnu::hot]] void prefetch(const Location& location, std::optional<locks::Mode> mode);
  /// The elements of local buckets that were prefetched. It reads their lines without the locks, a
  /// word at a time, to find the elements. The words may be stale.
  [[gnu::hot]] void prefetch_elements(std::span<const Location> window);

  /// The deadline of an operation on one key that begins now, whatever ways it takes. A key of this
  /// rank, or in a store of one node, has one wait, with which its deadline begins.
  Deadline deadline_of(const Location& location) const {
    const bool waits_once = location.rank == ep.rank() || ep.one_class();
    return waits_once ? gate.deadline() : gate.begun();
  }
  /// Locks the stripe of one key as a separate operation. The lock, or the check of its kind, and
  /// the read of the key's bucket line, which comes next in any case, are one round trip if the
  /// stripe is remote. `expected` as for BucketChain::post_first().
  [[gnu::hot]] Result<locks::StripeGrant> enter(const Location& location, locks::Mode mode,
                                                Deadline until, EntryWord expected = {});
  [[gnu::hot]] Result<locks::StripeGrant> enter_reached(const Location& location, locks::Mode mode,
                                                        Deadline until, EntryWord expected);
  /// The same for a local key, without waiting: kBusy if the lock is taken. `waited`: an earlier
  /// try has ended like that.
  Result<locks::StripeGrant> try_enter(const Location& location, locks::Mode mode, bool waited);
  /// The bucket line that enter() has read, if it has.
  const Bucket* line_of(const locks::StripeGrant& grant) const {
    return grant.read_first ? &chain.first() : nullptr;
  }
  /// The stripe is unlocked: its lock is reviewed if that is due.
  void leave(const Location& location) {
    if (advisor.due()) advisor.review(location.rank, location.stripe);
  }

  /// Calls use(part) when the key is there: the part of the value that range_of(its length) names.
  /// The element is read without the lock if it can be; else the stripe is locked in shared mode
  /// meanwhile.
  template <class Range, class Use>
  Status read_at(const Location& location, std::string_view key, Range&& range_of, Use&& use);
  /// Reads an element of another node without its lock, or has the owner read it. Nothing: it is to
  /// be read under the lock.
  template <class Range, class Use>
  std::optional<Status> read_unlocked(const Location& location, std::string_view key,
                                      Deadline until, Range&& range_of, Use&& use);
  /// Reads an element of this node without its lock. Nothing: it is to be read under the lock.
  template <class Range, class Use>
  std::optional<Status> read_local(const Location& location, std::string_view key, Range&& range_of,
                                   Use&& use);
  /// Makes an edit (edits.h): its owner does, or change().
  template <class Edit>
  Status edit(const Location& location, std::string_view key, Edit& edit) {
    const Deadline until = deadline_of(location);
    if (!ep.is_local(location.rank) && !gate.holds_all()) {
      ElementPlace place;
      if (const auto made = owners.call(location.rank, key, until, edit, place)) {
        optimistic.learn(location, place);
        heap.expect_room(location.rank);
        advisor.visited();
        leave(location);
        return *made;
      }
    }
    return change(location, key, until, Edit::kShown,
                  [&](const ElementPart* old) { return edit.decide(old); });
  }
  /// Locks, shows, applies. When the heap is full, room is made if it can be, and the change is
  /// tried again, with a deadline of that try.
  template <class Mutate>
  [[gnu::hot]] Status change(const Location& location, std::string_view key, Deadline until,
                             ValueRange range, Mutate&& mutate);
  /// The same on a local key, once and without waiting for the stripe's lock: kBusy if it is taken.
  /// `waited`: an earlier try has ended like that. `status` says how it ended before the lock is
  /// released, which may find no memory.
  template <class Mutate>
  void try_change(const Location& location, std::string_view key, ValueRange range, bool waited,
                  Status& status, Mutate&& mutate);
  /// The same with the stripe locked, and once. `first` and `expected` as for
  /// BucketChain::locate().
  template <class Access, class Mutate>
  Status change_locked(Lane<E>& with, Access access, const Location& location, std::string_view key,
                       ValueRange range, Mutate&& mutate, const Bucket* first = nullptr,
                       const BlockAtHand& expected = {});
  /// Makes lanes for an operation on several keys, one for each body, and the session's own, which
  /// is the first.
  void make_lanes(std::size_t n) {
    while (further_lanes.size() + 1 < n) {
      further_lanes.push_back(std::make_unique<Lane<E>>(ep, geometry, heap, clock, freed));
    }
  }
  Lane<E>& lane_at(std::size_t i) { return i == 0 ? lane : *further_lanes[i - 1]; }
  /// Reads a local key under its lock, once and without waiting for the lock, as try_change() does.
  /// Calls use(part, place) when the key is there.
  template <class Use>
  Status try_read(const Location& location, std::string_view key, bool waited, Use&& use);
  void shrink_buffers() { lane.shrink_buffers(); }
  void shrink_lanes() {
    shrink_buffers();
    survey.shrink_buffers();
    optimistic.shrink_buffers();
    for (auto& further : further_lanes)
      further->shrink_buffers(kMaxKept / fabric::Overlap::kMaxBodies);
  }

  E ep;
  const Geometry& geometry;
  locks::LockAgent<E> agent;
  std::optional<locks::LockTimes> times;
  Heap<E> heap;
  MovePace pace;
  FreedBlocks<E> freed;
  OperationClock<E> clock;
  Lane<E> lane;
  VolumeCounters<E>& counters;  // of it, and so the next two
  ElementReader<E>& reader;
  BucketChain<E>& chain;
  std::vector<std::unique_ptr<Lane<E>>> further_lanes;  // made when they are needed
  LocalReader<E> local;
  OptimisticReader<E> optimistic;
  OwnerCaller<E> owners;
  KeySurvey<E> survey;
  ElementMarks<E> marks;
  StripeGate<E> gate;
  LockAdvisor<E> advisor;
  PlacedKeys placed;            // filled by Session::prefetch()
  std::vector<Location> batch;  // of the keys of get_many(), or of read_ahead()
  Walker<E> walker;
  Scanner<E> scanner;
  Sweeper<E> sweeper;
  Mover<E> mover;
  RoomMaker<E> room;
  WriteReserve<E> reserve;
};

template <fabric::Endpoint E>
SessionCore<E>::SessionCore(E endpoint, const Geometry& geometry_of_store,
                            const locks::StripeLock& lock, const SessionOptions& options)
    : ep(std::move(endpoint)),
      geometry(geometry_of_store),
      agent(ep, geometry.nodes()),
      heap(ep, geometry),
      freed(heap, pace),
      clock(ep, geometry, options.timeout),
      lane(ep, geometry, heap, clock, freed),
      counters(lane.counters),
      reader(lane.reader),
      chain(lane.chain),
      local(ep, geometry, clock, options),
      optimistic(ep, geometry, options.addresses, options.timeout),
      owners(ep, geometry, options.calls, options.timeout, options.patience),
      survey(ep, geometry),
      marks(ep, chain),
      gate(agent, geometry, lock, Deadline::within(options.timeout)),
      advisor(ep, geometry, gate, options.choice, options.timeout, ep.agent().word()),
      walker(ep, geometry, gate, clock, reader, chain, heap, freed),
      scanner(ep, geometry, clock, reader, chain, walker),
      sweeper(ep, geometry, clock, counters, chain, walker),
      mover(ep, geometry, heap, gate, reader, chain, pace),
      room(ep, geometry, heap, gate, counters, sweeper, mover, pace),
      reserve(ep, geometry, heap, chain) {
  KW_CHECK(geometry.elements().proof || ep.one_class());  // or nobody could trust an element (K8)
  if (options.lock_times != 0) agent.times = &times.emplace(options.lock_times);
}

template <fabric::Endpoint E>
inline void SessionCore<E>::prefetch(const Location& location, std::optional<locks::Mode> mode) {
  if (mode == locks::Mode::kWrite || !local.reads()) {
    gate.prefetch(location);
  } else {
    if (local.by_changes()) gate.prefetch_changes(location);
    if (!mode) gate.template prefetch<PrefetchFor::kRead>(location);
  }
  prefetch_line(ep.view(geometry.bucket(location.rank, location.bucket)));
}

template <fabric::Endpoint E>
void SessionCore<E>::prefetch_elements(std::span<const Location> window) {
  for (const Location& location : window) {
    if (!ep.is_local(location.rank)) continue;
    const fabric::Address line = geometry.bucket(location.rank, location.bucket);
    for (std::uint32_t i = 1; i < kBucketWords; ++i) {
      const EntryWord entry(ep.load(fabric::cpu, line + i * 8));
      if (entry.kind() == EntryKind::kEmpty) break;
      if (entry.kind() == EntryKind::kInline) {
        i += kInlineEntryWords - 1;
      } else if (entry.kind() == EntryKind::kHeap && entry.tag() == tag_of(location.hash) &&
                 (entry.size_class() < kClasses || entry.size_class() == kRunClass) &&
                 entry.offset() + kChunkBytes <= geometry.segment_bytes()) {
        reader.prefetch(location.rank, entry);
      }
    }
  }
}

template <fabric::Endpoint E>
Result<locks::StripeGrant> SessionCore<E>::enter(const Location& location, locks::Mode mode,
                                                 Deadline until, EntryWord expected) {
  if (gate.holds_all()) return locks::StripeGrant();
  if (Status status = gate.reach(location.rank, mode, until); !status.ok()) return status;
  return enter_reached(location, mode, until, expected);
}

// A function of one result, so that the grant is made where the caller wants it: a copy of it waits
// for the stores of its members.
template <fabric::Endpoint E>
Result<locks::StripeGrant> SessionCore<E>::enter_reached(const Location& location, locks::Mode mode,
                                                         Deadline until, EntryWord expected) {
  clock.begin(location.rank);
  chain.make_room_for(expected);
  const auto read_line = [&] {
    chain.post_first(location, expected);
    if (mode == locks::Mode::kWrite) counters.post_words(location);
  };
  const std::uint64_t contended = gate.contended();
  auto grant = gate.acquire_and_read(location.rank, location.stripe, mode, until, read_line);
  if (grant.ok()) advisor.acquired(location, mode, gate.contended() != contended);
  if (mode == locks::Mode::kWrite && !ep.is_local(location.rank) &&
      !(grant.ok() && grant->read_first)) {
    counters.forget_words();
  }
  return grant;
}

template <fabric::Endpoint E>
Result<locks::StripeGrant> SessionCore<E>::try_enter(const Location& location, locks::Mode mode,
                                                     bool waited) {
  clock.begin(location.rank);
  prefetch(location, mode);
  auto grant = gate.try_acquire(location.rank, location.stripe, mode);
  if (grant.ok()) advisor.acquired(location, mode, waited);
  return grant;
}

template <fabric::Endpoint E>
template <class Mutate>
Status SessionCore<E>::change(const Location& location, std::string_view key, Deadline until,
                              ValueRange range, Mutate&& mutate) {
  bool again = false;
  const auto once = [&] {
    if (std::exchange(again, true)) until = deadline_of(location);
    return fabric::with_access(ep, location.rank, [&](auto access) -> Status {
      if constexpr (std::is_same_v<decltype(access), fabric::CpuClass>) {
        prefetch(location, locks::Mode::kWrite);
      }
      EntryWord expected;
      if constexpr (std::is_same_v<decltype(access), fabric::RmaClass>) {
        expected = optimistic.expected(location);
      }
      auto grant = enter(location, locks::Mode::kWrite, until, expected);
      if (!grant.ok()) return grant.status();
      Status status;
      {
        const StripeGuard<E> held(gate, location.rank, location.stripe, *grant);
        status = change_locked(lane, access, location, key, range, mutate, line_of(*grant),
                               BlockAtHand{expected, {}});
      }
      freed.collect();
      leave(location);
      return status;
    });
  };
  Status status = room.with_room(std::span(&location, 1), once);
  if (!ep.is_local(location.rank) || chain.keeps_much()) shrink_buffers();
  return status;
}

template <fabric::Endpoint E>
template <class Mutate>
void SessionCore<E>::try_change(const Location& location, std::string_view key, ValueRange range,
                                bool waited, Status& status, Mutate&& mutate) {
  auto grant = try_enter(location, locks::Mode::kWrite, waited);
  if (!grant.ok()) {
    status = grant.status();
    return;
  }
  {
    const StripeGuard<E> held(gate, location.rank, location.stripe, *grant);
    status = change_locked(lane, fabric::cpu, location, key, range, mutate);
  }
  freed.collect();
  if (chain.keeps_much()) shrink_buffers();
}

template <fabric::Endpoint E>
template <class Access, class Mutate>
Status SessionCore<E>::change_locked(Lane<E>& with, Access access, const Location& location,
                                     std::string_view key, ValueRange range, Mutate&& mutate,
                                     const Bucket* first, const BlockAtHand& expected) {
  Found found;
  const Code located = with.chain.locate(access, location, key, found, first, expected);
  if (located != Code::kOk) return Status(located);
  ElementPart part;
  if (found.live()) {
    const Code code = with.reader.show(access, location.rank, found, range, part);
    if (code != Code::kOk) return Status(code);
  }
  const Decision decision = mutate(found.live() ? &part : nullptr);
  Status status = with.chain.apply(access, location, key, decision, found);
  if constexpr (std::is_same_v<Access, fabric::RmaClass>) {
    optimistic.learn(location, with.chain.place());
  }
  return status;
}

}  // namespace keyway::store
