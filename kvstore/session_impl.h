// The bodies of Session<E>, for the files that instantiate it for a fabric. Those of several keys
// are in session_several.h.
//
// A user of a session includes session.h alone, and takes the instance that session_shm.cc or its
// like has compiled.
#pragma once

#include <memory>

#include "keyway/kvstore/held_keys.h"
#include "keyway/kvstore/key_operations_impl.h"
#include "keyway/kvstore/session.h"
#include "keyway/kvstore/session_core.h"
#include "keyway/kvstore/session_core_read.h"
#include "keyway/kvstore/session_several.h"
#include "keyway/kvstore/volume/bucket_chain_change.h"
#include "keyway/kvstore/volume/bucket_chain_find.h"
#include "keyway/kvstore/volume/bucket_chain_overwrite.h"
#include "keyway/kvstore/volume/heap_impl.h"
#include "keyway/kvstore/volume/optimistic_several.h"

namespace keyway::store {

template <fabric::Endpoint E>
Session<E>::Session(E endpoint, const Geometry& geometry, const locks::StripeLock& lock,
                    const SessionOptions& options)
    : core_(std::make_unique<SessionCore<E>>(std::move(endpoint), geometry, lock, options)) {}
template <fabric::Endpoint E>
Session<E>::~Session() = default;

// --- one key

template <fabric::Endpoint E>
template <class Range, class Use>
Status Session<E>::read_key(std::string_view key, Range&& range_of, Use&& use) {
  if (auto status = check_key(key); !status.ok()) return status;
  const Location location = core_->place(key);
  if (core_->ep.is_local(location.rank)) core_->prefetch(location, locks::Mode::kRead);
  return core_->read_at(location, key, range_of, use);
}

template <fabric::Endpoint E>
template <class Mutate>
Status Session<E>::mutate_key(std::string_view key, ValueRange range, Mutate&& mutate) {
  if (auto status = check_key(key); !status.ok()) return status;
  const Location location = core_->place(key);
  return core_->change(location, key, core_->deadline_of(location), range, mutate);
}

template <fabric::Endpoint E>
template <class Edit>
Status Session<E>::edit_key(std::string_view key, Edit& edit) {
  if (auto status = check_key(key); !status.ok()) return status;
  return core_->edit(core_->place(key), key, edit);
}

template <fabric::Endpoint E>
Result<ElementInfo> Session<E>::info(std::string_view key) {
  ElementInfo info;
  const auto no_value = [](std::uint64_t) { return ValueRange::none(); };
  Status status = read_key(key, no_value, [&](const ElementPart& part) {
    info = {part.value_bytes, part.expires_at_ms};
    if (part.expires_at_ms == kNoExpiry) return;
    info.now_ms = core_->clock.now();
    core_->clock.raise(owner_of(key), info.now_ms);  // T3
  });
  if (!status.ok()) return status;
  return info;
}

template <fabric::Endpoint E>
Status Session<E>::set_expiry(std::string_view key, std::uint64_t expires_at_ms) {
  return mutate_key(key, ValueRange::none(), [&](const ElementPart* old) -> Decision {
    if (old == nullptr) return Decision::fail(Code::kNotFound);
    if (core_->clock.has_come(expires_at_ms)) return Decision::erase();
    return Decision::expire(expires_at_ms);
  });
}

/// An element that is past is removed first: no sweep then changes the version of a key that no
/// client has touched.
template <fabric::Endpoint E>
Result<KeyVersion> Session<E>::version_of(std::string_view key) {
  if (auto status = check_key(key); !status.ok()) return status;
  const Location location = core_->place(key);
  const Deadline until = core_->gate.begun();  // for up to three entries
  bool past = false;
  auto version = version_once(key, until, past);
  if (!version.ok() || !past) return version;
  const auto only_look = [](const ElementPart*) { return Decision(); };
  const Status status = core_->change(location, key, until, ValueRange::none(), only_look);
  if (!status.ok()) return status;
  return version_once(key, until, past);
}

/// `past`: whether the key has an expired element.
template <fabric::Endpoint E>
Result<KeyVersion> Session<E>::version_once(std::string_view key, Deadline until, bool& past) {
  SessionCore<E>& core = *core_;
  const Location location = core.place(key);
  return fabric::with_access(core.ep, location.rank, [&](auto access) -> Result<KeyVersion> {
    auto grant = core.enter(location, locks::Mode::kRead, until);
    if (!grant.ok()) return grant.status();
    Found found;
    KeyVersion version;
    Code code = Code::kOk;
    {
      const StripeGuard<E> held(core.gate, location.rank, location.stripe, *grant);
      code = core.chain.locate(access, location, key, found, core.line_of(*grant));
      version = core.chain.version_of(access, location, found);
    }
    core.leave(location);
    core.shrink_buffers();
    if (code != Code::kOk) return Status(code);
    past = found.expired;
    return version;
  });
}

// --- the whole

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::scan(std::uint64_t cursor, std::uint64_t limit,
                                       const ElementSink& sink) {
  return core_->scanner.scan(cursor, limit, Shown::kElements, sink);
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::scan_rank(std::uint32_t rank, std::uint64_t cursor,
                                            std::uint64_t limit, const ElementSink& sink) {
  return core_->scanner.scan_rank(rank, cursor, limit, Shown::kElements, sink);
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::scan_from(std::string_view key, std::uint64_t limit,
                                            const ElementSink& sink) {
  if (auto status = check_key(key); !status.ok()) return status;
  return core_->scanner.scan_from(key, core_->place(key), limit, Shown::kElements, sink);
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::scan_keys(std::uint64_t cursor, std::uint64_t limit,
                                            const KeySink& sink) {
  return core_->scanner.scan(cursor, limit, Shown::kKeys,
                             [&](std::string_view key, std::string_view) { sink(key); });
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::scan_keys_rank(std::uint32_t rank, std::uint64_t cursor,
                                                 std::uint64_t limit, const KeySink& sink) {
  return core_->scanner.scan_rank(rank, cursor, limit, Shown::kKeys,
                                  [&](std::string_view key, std::string_view) { sink(key); });
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::scan_keys_from(std::string_view key, std::uint64_t limit,
                                                 const KeySink& sink) {
  if (auto status = check_key(key); !status.ok()) return status;
  return core_->scanner.scan_from(key, core_->place(key), limit, Shown::kKeys,
                                  [&](std::string_view k, std::string_view) { sink(k); });
}

/// Erases everything, stripe by stripe.
template <fabric::Endpoint E>
Status Session<E>::clear() {
  for (std::uint32_t rank = 0; rank < core_->ep.ranks(); ++rank) {
    if (Status status = clear_rank(rank); !status.ok()) return status;
  }
  return {};
}

template <fabric::Endpoint E>
Status Session<E>::clear_rank(std::uint32_t rank) {
  core_->optimistic.forget_ahead();
  return core_->walker.clear(rank);
}

template <fabric::Endpoint E>
Status Session<E>::exclusively(FunctionRef<void()> body) {
  SessionCore<E>& core = *core_;
  KW_CHECK(!core.gate.holds_all());
  std::vector<Location> everywhere;
  everywhere.reserve(core.ep.ranks() * core.geometry.stripes());
  for (std::uint32_t rank = 0; rank < core.ep.ranks(); ++rank) {
    for (std::uint64_t stripe = 0; stripe < core.geometry.stripes(); ++stripe) {
      everywhere.push_back({.stripe = stripe, .rank = rank});
    }
  }
  HeldKeys<E> held(core, everywhere);
  if (auto status = held.acquire(locks::Mode::kWrite); !status.ok()) return status;
  const std::unique_ptr<StripeGate<E>, void (*)(StripeGate<E>*)> until_end(
      &core.gate, [](StripeGate<E>* gate) { gate->hold_all(false); });
  core.gate.hold_all(true);
  typename ReadPermit<E>::Alone alone(core.optimistic.permit());
  alone.ready();
  body();
  return {};
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::size() {
  std::uint64_t total = 0;
  for (std::uint32_t rank = 0; rank < core_->ep.ranks(); ++rank) {
    const auto part = size_of(rank);
    if (!part.ok()) return part;
    total += *part;
  }
  return total;
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::size_of(std::uint32_t rank) {
  if (Status status = core_->gate.reach(rank, locks::Mode::kRead); !status.ok()) return status;
  return core_->counters.elements(rank);
}

template <fabric::Endpoint E>
Result<VolumeReport> Session<E>::report(std::uint32_t rank) {
  auto report = core_->walker.report(rank);
  if (!report.ok()) return report;
  report->table_bytes = core_->geometry.buckets() * kBucketBytes;
  report->heap = core_->heap.report(rank);
  return report;
}

template <fabric::Endpoint E>
VolumeUsage Session<E>::usage(std::uint32_t rank) {
  const Geometry& geometry = core_->geometry;
  VolumeUsage usage{counts(rank)};
  usage.stripes = geometry.stripes();
  usage.table_bytes = geometry.buckets() * kBucketBytes;
  usage.lock_bytes = geometry.lock_bytes();
  usage.segment_bytes = geometry.segment_bytes();
  usage.heap = core_->heap.usage(rank);
  return usage;
}

template <fabric::Endpoint E>
VolumeCounts Session<E>::counts(std::uint32_t rank) {
  return core_->counters.counts(rank);
}

// --- expired elements

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::sweep_expired(std::uint32_t rank) {
  return core_->sweeper.sweep(rank);
}

template <fabric::Endpoint E>
Result<SweepPart> Session<E>::sweep_part(std::uint32_t rank, std::uint64_t from,
                                         std::uint64_t lines) {
  return core_->sweeper.sweep_part(rank, from, lines);
}

// --- the locks

template <fabric::Endpoint E>
Status Session<E>::switch_kind(std::uint32_t rank, std::uint64_t stripe, locks::KindIndex target) {
  return core_->gate.switch_to(rank, stripe, target);
}

template <fabric::Endpoint E>
Status Session<E>::switch_kind(std::uint32_t rank, std::uint64_t stripe, std::string_view kind) {
  return core_->gate.switch_to(rank, stripe, kind);
}

template <fabric::Endpoint E>
StripeReport Session<E>::stripe_report(std::uint32_t rank, std::uint64_t stripe) {
  return core_->advisor.report(rank, stripe);
}

template <fabric::Endpoint E>
std::vector<LockKindReport> Session<E>::lock_kinds(std::uint32_t rank) {
  return core_->gate.report(rank);
}

template <fabric::Endpoint E>
locks::KindWord Session<E>::kind_of(std::uint32_t rank, std::uint64_t stripe) {
  return core_->gate.kind_of(rank, stripe);
}

template <fabric::Endpoint E>
std::uint64_t Session<E>::switches() const {
  return core_->advisor.switches();
}

template <fabric::Endpoint E>
std::uint64_t Session<E>::moved() const {
  return core_->mover.moved();
}

template <fabric::Endpoint E>
std::uint32_t Session<E>::owner_of(std::string_view key) const {
  return owner_of_key(key, core_->ep.ranks());
}

template <fabric::Endpoint E>
std::uint64_t Session<E>::stored_bytes(std::string_view key, const ElementInfo& info) const {
  const bool expires = info.expires_at_ms != kNoExpiry;
  constexpr std::uint64_t kWord = sizeof(std::uint64_t);
  if (!expires && key.size() + info.value_bytes <= kInlineBytes) return kInlineEntryWords * kWord;
  const std::uint64_t bytes =
      core_->geometry.elements().bytes_of(key.size(), info.value_bytes, expires);
  const std::uint32_t size_class = class_for(bytes);
  return kWord +
         (size_class == kRunClass ? run_chunks(bytes) * kChunkBytes : class_bytes(size_class));
}

template <fabric::Endpoint E>
StripePlace Session<E>::stripe_of(std::string_view key) const {
  const Location location = core_->location(key);
  return {location.rank, location.stripe};
}

template <fabric::Endpoint E>
std::uint64_t Session<E>::leased_bytes(std::uint32_t rank) const {
  return core_->heap.leased_bytes(rank);
}

template <fabric::Endpoint E>
const locks::LockStats& Session<E>::lock_stats() const {
  return core_->agent.stats;
}

template <fabric::Endpoint E>
const OptimisticReads& Session<E>::optimistic_reads() const {
  return core_->optimistic.counts();
}

template <fabric::Endpoint E>
std::uint64_t Session<E>::local_reads() const {
  return core_->local.accepted();
}

template <fabric::Endpoint E>
RemoteWork Session<E>::remote_work() const {
  const fabric::Traffic traffic = core_->ep.traffic();
  return {.reads = core_->optimistic.counts(),
          .edits_by_owners = core_->owners.calls(),
          .messages = traffic.messages,
          .round_trips = traffic.round_trips,
          .loopbacks = traffic.loopbacks,
          .flushes = traffic.flushes};
}

template <fabric::Endpoint E>
const locks::LockTimes* Session<E>::lock_times() const {
  return core_->agent.times;
}

template <fabric::Endpoint E>
E& Session<E>::endpoint() {
  return core_->ep;
}

template <fabric::Endpoint E>
std::uint64_t Session<E>::now_ms(std::string_view key) {
  return core_->clock.now_at(owner_of(key));
}

}  // namespace keyway::store
