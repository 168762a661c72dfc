// LockAdvisor<E>: samples the acquisitions of stripes, and switches a stripe's lock when due.
//
// *What.* acquired() records a sample of about each kSampleEvery-th acquisition; when due(),
// review() reads the stripe's window of samples and compares the kinds (stripe_monitor.h).
// *Thread safety.* One session's. The counters of stripes are shared.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <iterator>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/stripes/stripe_gate.h"
#include "keyway/kvstore/stripes/stripe_monitor.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/rng.h"
#include "keyway/locks/fabric/with_access.h"

namespace keyway::store {

template <fabric::Endpoint E>
class LockAdvisor {
 public:
  /// Without a choice it samples nothing, and no review is ever due. A switch may take a part of an
  /// operation's `timeout`.
  LockAdvisor(E& ep, const Geometry& geometry, StripeGate<E>& gate, const KindChoice* choice,
              std::chrono::nanoseconds timeout, std::uint64_t seed)
      : ep_(ep),
        geometry_(geometry),
        gate_(gate),
        choice_(gate.kinds() > 1 ? choice : nullptr),
        patience_(Deadline::within(
            std::max(timeout / kPartForSwitch, std::min(timeout, kMinSwitchWait)))),
        sampling_(seed) {}
  LockAdvisor(const LockAdvisor&) = delete;
  LockAdvisor& operator=(const LockAdvisor&) = delete;

  /// The stripe is locked in that mode, after a wait or without one.
  [[gnu::always_inline]] void acquired(const Location& location, locks::Mode mode, bool waited) {
    if (choice_ != nullptr && --until_sample_ == 0) leave_sample(location, mode, waited);
  }
  /// The stripe's owner has locked it for this session, and has left the samples.
  void visited() {
    if (choice_ != nullptr && --until_sample_ == 0) count_sample();
  }
  bool due() const { return until_look_ == 0; }
  /// Evaluates a stripe's window, and switches its lock when that is due. The stripe is not locked.
  void review(std::uint32_t rank, std::uint64_t stripe);
  /// Switches that were due.
  std::uint64_t switches() const { return switches_; }
  /// Why a stripe's lock is as it is.
  StripeReport report(std::uint32_t rank, std::uint64_t stripe);

 private:
  /// The operation that makes a review is done, and its caller waits for the switch: not long.
  static constexpr int kPartForSwitch = 100;
  /// Enough for the queue of a busy stripe.
  static constexpr std::chrono::nanoseconds kMinSwitchWait = std::chrono::milliseconds(20);

  void leave_sample(const Location& location, locks::Mode mode, bool waited);
  void count_sample();
  StripeCounters counters_of(std::uint32_t rank, std::uint64_t stripe);
  StripeView view(const StripeCounters& counters, locks::KindIndex in_force) const {
    return view_of(counters.local(), counters.remote(), choice_->kinds[in_force]->readers_share,
                   counters.contenders());
  }

  E& ep_;
  const Geometry& geometry_;
  StripeGate<E>& gate_;
  const KindChoice* choice_;
  const Deadline patience_;
  std::uint32_t until_sample_ = kSampleEvery;
  std::uint32_t until_look_ = kLookEvery;
  Rng sampling_;
  std::uint64_t switches_ = 0;
};

/// A remote sample rides on the flush of the lock's release.
template <fabric::Endpoint E>
void LockAdvisor<E>::leave_sample(const Location& location, locks::Mode mode, bool waited) {
  const fabric::Address line = geometry_.stripe_counters(location.rank, location.stripe);
  const std::uint64_t one = Samples::one(mode == locks::Mode::kRead, waited);
  if (ep_.is_local(location.rank)) {
    ep_.fetch_add(fabric::cpu, line + kLocalSamplesOffset, one);
  } else {
    ep_.post_fetch_add(fabric::rma, line + kRemoteSamplesOffset, one);
  }
  count_sample();
}

template <fabric::Endpoint E>
void LockAdvisor<E>::count_sample() {
  // Not every n-th acquisition: a program that works in turn would always show the same thing.
  until_sample_ = static_cast<std::uint32_t>(1 + sampling_.below(2 * kSampleEvery - 1));
  if (until_look_ > 0) --until_look_;
}

/// Word by word: others change them meanwhile.
template <fabric::Endpoint E>
StripeCounters LockAdvisor<E>::counters_of(std::uint32_t rank, std::uint64_t stripe) {
  const fabric::Address line = geometry_.stripe_counters(rank, stripe);
  StripeCounters counters;
  fabric::with_access(ep_, rank, [&](auto access) {
    std::array<fabric::Pending, StripeCounters::kWords> pending;
    for (std::size_t i = 0; i < pending.size(); ++i) {
      pending[i] = ep_.post_load(access, line + i * 8);
    }
    const fabric::Flushed flushed = ep_.flush(rank);
    for (std::size_t i = 0; i < pending.size(); ++i) counters.words[i] = pending[i].value(flushed);
  });
  return counters;
}

template <fabric::Endpoint E>
void LockAdvisor<E>::review(std::uint32_t rank, std::uint64_t stripe) {
  until_look_ = kLookEvery;
  const fabric::Address line = geometry_.stripe_counters(rank, stripe);
  const StripeCounters counters = counters_of(rank, stripe);
  const locks::KindIndex in_force = gate_.kind_of(rank, stripe).kind();
  const StripeView seen = view(counters, in_force);
  if (seen.samples < kMinSamples) return;
  const Verdict verdict = review_lock_kind(*choice_, in_force, seen);
  if (!verdict.due && seen.samples < kMaxSamples) return;
  const auto begin = [&](std::size_t word) {
    return verdict.due ? counters.words[word]
                       : Samples::half_way(counters.words[word + 2], counters.words[word]);
  };
  const std::uint64_t window[] = {begin(1), begin(2),
                                  LastContenders::word(seen.workload.contenders)};
  fabric::with_access(ep_, rank, [&](auto access) {
    for (std::size_t i = 0; i < std::size(window); ++i) {
      ep_.store(access, line + kWindowOffset + i * 8, window[i]);
    }
  });
  // A switch that cannot be had in time is tried again when it is due again.
  if (verdict.due && gate_.switch_to(rank, stripe, verdict.best, patience_).ok()) ++switches_;
}

template <fabric::Endpoint E>
StripeReport LockAdvisor<E>::report(std::uint32_t rank, std::uint64_t stripe) {
  const locks::KindWord word = gate_.kinds() == 1 ? locks::KindWord() : gate_.kind_of(rank, stripe);
  StripeReport report{.kind = std::string(gate_.name_of(word.kind())),
                      .switches = word.switches(),
                      .why = "automatic lock selection is off"};
  if (choice_ == nullptr) return report;
  const StripeView seen = view(counters_of(rank, stripe), word.kind());
  report.samples = seen.samples;
  report.why = "no acquisition has been sampled since the start, or since the last switch was due";
  if (seen.samples == 0) return report;
  report.reads = seen.workload.reads;
  report.local = seen.workload.local;
  report.contenders = seen.workload.contenders;
  report.why = locks::why(choice_->kinds, seen.workload, choice_->costs);
  return report;
}

}  // namespace keyway::store
