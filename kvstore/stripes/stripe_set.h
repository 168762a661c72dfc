// StripeSet<E>: the stripes of several keys, locked by one operation.
//
// *What.* acquire() locks all of them. Those of other nodes are tried at the same time, so that
// uncontended ones cost the round trips of one lock; from the first that is taken on, it waits for
// one, in order, and tries the rest again.
// *Thread safety.* One session's.
// *Invariants.*
//   K5   of session.h: while it waits for a stripe it holds none that comes later in the order of
//        (rank, stripe). A try waits for nobody, so those need no order.
//   SS1  On one node, a set that is held for writing is counted at all of its stripes: on all
//        before the caller can change anything, and again before the first of them is released
//        (K9 of session.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/stripes/stripe_gate.h"
#include "keyway/locks/fabric/overlap.h"

namespace keyway::store {

/// Released when it goes.
template <fabric::Endpoint E>
class StripeSet {
 public:
  struct Stripe {
    std::uint32_t rank = 0;
    std::uint64_t stripe = 0;
    bool held = false;
    locks::StripeGrant grant;
  };

  StripeSet(StripeGate<E>& gate, std::span<const Location> locations)
      : gate_(gate), ep_(gate.endpoint()) {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> stripes;
    stripes.reserve(locations.size());
    for (const Location& location : locations) stripes.emplace_back(location.rank, location.stripe);
    std::sort(stripes.begin(), stripes.end());  // K5
    stripes.erase(std::unique(stripes.begin(), stripes.end()), stripes.end());
    stripes_.reserve(stripes.size());
    for (const auto& [rank, stripe] : stripes) stripes_.push_back({.rank = rank, .stripe = stripe});
  }
  StripeSet(const StripeSet&) = delete;
  StripeSet& operator=(const StripeSet&) = delete;
  ~StripeSet() noexcept(false) { release(); }

  /// Each stripe once, in order.
  std::span<const Stripe> stripes() const { return stripes_; }

  /// A failure leaves all for release().
  Status acquire(locks::Mode mode, Deadline until) {
    for (std::size_t i = 0; i < stripes_.size(); ++i) {
      if (i > 0 && stripes_[i].rank == stripes_[i - 1].rank) continue;
      if (Status status = gate_.reach(stripes_[i].rank, mode, until); !status.ok()) return status;
    }
    for (std::size_t locked = try_from(0, mode); locked < stripes_.size();
         locked = try_from(locked + 1, mode)) {
      Stripe& next = stripes_[locked];
      auto grant = gate_.acquire(next.rank, next.stripe, mode, until);
      if (!grant.ok()) return grant.status();
      next.grant = *grant;
      next.held = true;
    }
    if (mode == locks::Mode::kWrite && ep_.one_class() && !gate_.holds_all()) {
      count();
      counted_ = true;
    }
    return {};
  }
  void release() {
    if (std::exchange(counted_, false)) count();
    release_from(0);
  }

 private:
  void count() {
    for (const Stripe& stripe : stripes_) gate_.count_change(stripe.rank, stripe.stripe);
  }
  bool is_remote(const Stripe& stripe) const { return !ep_.is_local(stripe.rank); }
  std::size_t remote_from(std::size_t from) const {
    const auto rest = std::span(stripes_).subspan(from);
    return static_cast<std::size_t>(std::count_if(
        rest.begin(), rest.end(), [&](const Stripe& stripe) { return is_remote(stripe); }));
  }
  /// Calls step(stripe) for the stripes from this one on: at the same time for the `remote`
  /// ones of other nodes.
  template <class Step>
  void for_each_from(std::size_t from, std::size_t remote, Step&& step) {
    const auto rest = std::span(stripes_).subspan(from);
    for (Stripe& stripe : rest) {
      if (!is_remote(stripe)) step(stripe);
    }
    if (remote == 0) return;
    fabric::overlap_steps(ep_, rest.size(), std::min(remote, fabric::Overlap::kMaxBodies),
                          [&](std::size_t i, std::size_t) {
                            if (is_remote(rest[i])) step(rest[i]);
                          });
  }
  /// Tries the stripes from this one on, if several are of other nodes. Returns the first that is
  /// not held; none behind it is.
  std::size_t try_from(std::size_t from, locks::Mode mode) {
    if (gate_.holds_all()) return from;
    const std::size_t remote = remote_from(from);
    if (remote < 2) return from;
    for_each_from(from, remote, [&](Stripe& stripe) {
      auto grant = gate_.try_acquire(stripe.rank, stripe.stripe, mode);
      if (!grant.ok()) return;
      stripe.grant = *grant;
      stripe.held = true;
    });
    const auto taken = std::find_if(stripes_.begin() + static_cast<std::ptrdiff_t>(from),
                                    stripes_.end(), [](const Stripe& each) { return !each.held; });
    const auto first = static_cast<std::size_t>(taken - stripes_.begin());
    release_from(first);
    return first;
  }
  void release_from(std::size_t from) {
    const auto release = [&](Stripe& stripe) {
      if (std::exchange(stripe.held, false))
        gate_.release(stripe.rank, stripe.stripe, stripe.grant);
    };
    for_each_from(from, remote_from(from), release);
  }

  StripeGate<E>& gate_;
  E& ep_;
  std::vector<Stripe> stripes_;
  bool counted_ = false;
};

}  // namespace keyway::store
