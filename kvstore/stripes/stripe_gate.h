// StripeGate<E>: acquires and releases the locks of stripes for one agent, with the active kind of
// each.
//
// *What.* acquire() and release() of one stripe's lock; StripeGuard releases it, StripeSet
// (stripe_set.h) holds several. The gate remembers the kind of each stripe: a hint, which every
// acquire verifies.
// *Thread safety.* One session's.
// *Invariants.*
//   SG1  While hold_all() is in effect the agent holds every stripe of the store for writing: then
//        acquire() grants without a lock, and release() only completes what has been posted.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/prefetch.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/distributed/stripe_lock.h"
#include "keyway/locks/fabric/with_access.h"

namespace keyway::store {

template <fabric::Endpoint E>
class StripeGate {
 public:
  /// `deadline`: for each operation's waits; it begins with the first of them.
  StripeGate(locks::LockAgent<E>& agent, const Geometry& geometry, const locks::StripeLock& lock,
             Deadline deadline)
      : agent_(agent), geometry_(geometry), lock_(lock), deadline_(deadline) {}
  StripeGate(const StripeGate&) = delete;
  StripeGate& operator=(const StripeGate&) = delete;

  /// Before a lock of another rank is taken: kTimeout if that does not answer. An operation that
  /// takes locks cannot be given up half-way, so it is not begun. Reads on this node do without
  /// the rank.
  Status reach(std::uint32_t rank, locks::Mode mode, Deadline deadline) {
    E& ep = agent_.ep;
    if (rank == ep.rank() || ep.one_class() || holds_all_) return {};
    if (mode == locks::Mode::kRead && ep.is_local(rank)) return {};
    return ep.answers(rank, deadline) ? Status() : no_answer(rank);
  }
  Status reach(std::uint32_t rank, locks::Mode mode) { return reach(rank, mode, deadline_); }
  static Status no_answer(std::uint32_t rank) {
    return {Code::kTimeout, fmt::format("rank {} did not answer in time", rank)};
  }
  /// `post_first` as of StripeLock::acquire(). Not while holds_all().
  template <class PostFirst>
  Result<locks::StripeGrant> acquire_and_read(std::uint32_t rank, std::uint64_t stripe,
                                              locks::Mode mode, Deadline deadline,
                                              PostFirst&& post_first) {
    return lock_.acquire(agent_, geometry_.stripe_site(rank, stripe), mode, deadline,
                         cached_kind(rank, stripe), post_first);
  }
  Result<locks::StripeGrant> acquire(std::uint32_t rank, std::uint64_t stripe, locks::Mode mode,
                                     Deadline deadline);
  Result<locks::StripeGrant> acquire(std::uint32_t rank, std::uint64_t stripe, locks::Mode mode) {
    return acquire(rank, stripe, mode, deadline_);
  }
  /// kBusy if the lock is taken. Not while holds_all().
  Result<locks::StripeGrant> try_acquire(std::uint32_t rank, std::uint64_t stripe,
                                         locks::Mode mode) {
    return lock_.try_acquire(agent_, geometry_.stripe_site(rank, stripe), mode,
                             cached_kind(rank, stripe));
  }
  void release(std::uint32_t rank, std::uint64_t stripe, locks::StripeGrant& grant);
  /// The deadline of an operation; it begins with the first wait.
  Deadline deadline() const { return deadline_; }
  /// The deadline of an operation that begins now.
  Deadline begun() const { return deadline_.started(agent_.ep.now_ns()); }

  /// Counts that an operation on several stripes begins or ends its changes of this one, which it
  /// holds for writing: alone, so an addition need not be atomic (K9 of session.h).
  void count_change(std::uint32_t rank, std::uint64_t stripe) {
    const fabric::Address word = geometry_.changes(rank, stripe);
    agent_.ep.store(fabric::cpu, word, agent_.ep.load(fabric::cpu, word) + 1);
  }

  /// Whether it has released a lock that was held for writing, since the last call.
  bool take_written() { return std::exchange(written_, false); }

  E& endpoint() { return agent_.ep; }
  bool holds_all() const { return holds_all_; }
  /// SG1, from the time that a StripeSet of all stripes has been acquired.
  void hold_all(bool all) { holds_all_ = all; }

  /// Prefetches the lock's line of a local stripe. kRead: for an acquire that may not come, so the
  /// line stays with those who read it.
  template <PrefetchFor kFor = PrefetchFor::kWrite>
  void prefetch(const Location& location) {
    prefetch_line<kFor>(agent_.ep.view(geometry_.stripe_site(location.rank, location.stripe)
                                           .of(cached_kind(location.rank, location.stripe))
                                           .line));
  }
  /// The same of what a read without the lock looks at.
  void prefetch_changes(const Location& location) {
    prefetch_line(agent_.ep.view(geometry_.changes(location.rank, location.stripe)));
  }
  /// Acquires that had to wait.
  std::uint64_t contended() const { return agent_.stats.contended; }

  std::size_t kinds() const { return lock_.kinds(); }
  std::string_view name_of(locks::KindIndex kind) const { return lock_.kind(kind).traits().name; }
  /// The active kind of a stripe, and how often it has changed.
  locks::KindWord kind_of(std::uint32_t rank, std::uint64_t stripe);
  std::vector<LockKindReport> report(std::uint32_t rank);
  Status switch_to(std::uint32_t rank, std::uint64_t stripe, locks::KindIndex target,
                   Deadline deadline);
  Status switch_to(std::uint32_t rank, std::uint64_t stripe, locks::KindIndex target) {
    return switch_to(rank, stripe, target, deadline_);
  }
  Status switch_to(std::uint32_t rank, std::uint64_t stripe, std::string_view kind);

 private:
  [[gnu::always_inline]] locks::KindIndex& cached_kind(std::uint32_t rank, std::uint64_t stripe) {
    if (lock_.kinds() == 1) return only_kind_;
    if (cached_kinds_.empty()) cached_kinds_.resize(agent_.ep.ranks());
    auto& of_rank = cached_kinds_[rank];
    if (of_rank.empty()) of_rank.resize(geometry_.stripes());
    return of_rank[stripe];
  }

  locks::LockAgent<E>& agent_;
  const Geometry& geometry_;
  const locks::StripeLock& lock_;
  const Deadline deadline_;
  bool holds_all_ = false;
  bool written_ = false;
  locks::KindIndex only_kind_ = 0;  // if the store has one kind
  // Otherwise the kind that each stripe had when it was last read; by rank, allocated at first use.
  std::vector<std::vector<locks::KindIndex>> cached_kinds_;
};

/// One stripe's lock, released when this goes, also by an exception. The destructors here may throw
/// in simulation alone: an agent whose execution is over leaves an operation by an exception.
template <fabric::Endpoint E>
class StripeGuard {
 public:
  StripeGuard(StripeGate<E>& gate, std::uint32_t rank, std::uint64_t stripe,
              locks::StripeGrant& grant)
      : gate_(gate), rank_(rank), stripe_(stripe), grant_(grant) {}
  StripeGuard(const StripeGuard&) = delete;
  StripeGuard& operator=(const StripeGuard&) = delete;
  [[gnu::hot]] ~StripeGuard() noexcept(false) { gate_.release(rank_, stripe_, grant_); }

 private:
  StripeGate<E>& gate_;
  std::uint32_t rank_;
  std::uint64_t stripe_;
  locks::StripeGrant& grant_;
};

template <fabric::Endpoint E>
Result<locks::StripeGrant> StripeGate<E>::acquire(std::uint32_t rank, std::uint64_t stripe,
                                                  locks::Mode mode, Deadline deadline) {
  if (holds_all_) return locks::StripeGrant();
  return lock_.acquire(agent_, geometry_.stripe_site(rank, stripe), mode, deadline,
                       cached_kind(rank, stripe));
}

template <fabric::Endpoint E>
void StripeGate<E>::release(std::uint32_t rank, std::uint64_t stripe, locks::StripeGrant& grant) {
  if (holds_all_) return static_cast<void>(agent_.ep.flush(rank));  // which the release does, too
  if (grant.grant.mode == locks::Mode::kWrite) written_ = true;
  lock_.release(agent_, geometry_.stripe_site(rank, stripe), grant);
}

template <fabric::Endpoint E>
locks::KindWord StripeGate<E>::kind_of(std::uint32_t rank, std::uint64_t stripe) {
  return fabric::with_access(agent_.ep, rank, [&](auto access) {
    return lock_.word(agent_, geometry_.stripe_site(rank, stripe), access);
  });
}

template <fabric::Endpoint E>
std::vector<LockKindReport> StripeGate<E>::report(std::uint32_t rank) {
  std::vector<LockKindReport> reports(lock_.kinds());
  for (std::size_t i = 0; i < lock_.kinds(); ++i) {
    reports[i].kind = name_of(static_cast<locks::KindIndex>(i));
  }
  for (std::uint64_t stripe = 0; stripe < geometry_.stripes(); ++stripe) {
    const locks::KindWord word = lock_.kinds() == 1 ? locks::KindWord() : kind_of(rank, stripe);
    ++reports[word.kind()].stripes;
    reports[word.kind()].switches += word.switches();
  }
  return reports;
}

template <fabric::Endpoint E>
Status StripeGate<E>::switch_to(std::uint32_t rank, std::uint64_t stripe, locks::KindIndex target,
                                Deadline deadline) {
  if (rank >= agent_.ep.ranks() || stripe >= geometry_.stripes() || target >= lock_.kinds()) {
    return {
        Code::kInvalidArgument,
        fmt::format("there is no stripe {} at rank {}, or no lock kind {}", stripe, rank, target)};
  }
  if (holds_all_) return {Code::kBusy, "a session that is alone in the store holds all its locks"};
  return lock_.switch_to(agent_, geometry_.stripe_site(rank, stripe), target, deadline,
                         cached_kind(rank, stripe));
}

template <fabric::Endpoint E>
Status StripeGate<E>::switch_to(std::uint32_t rank, std::uint64_t stripe, std::string_view kind) {
  for (std::size_t i = 0; i < lock_.kinds(); ++i) {
    const auto index = static_cast<locks::KindIndex>(i);
    if (name_of(index) == kind) return switch_to(rank, stripe, index);
  }
  return {Code::kInvalidArgument,
          fmt::format("the store's stripes cannot have locks of kind '{}'; lock=auto opens it with "
                      "all that may pay",
                      kind)};
}

}  // namespace keyway::store
