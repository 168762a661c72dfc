// StripeMonitor: what a stripe's visitors leave behind, and when that is worth another lock kind.
//
// *What.* One visit of kSampleEvery leaves a sample in the stripe's line of counters; now and then
// an agent that did so looks at the samples since the last look, and weighs the kinds. Regret is
// what the visits since then would have saved under the best kind; once it would have paid for a
// switch, a switch is due. A visitor that never comes back pays nothing, and a workload that
// wavers pays at most about twice what the better of its kinds costs (the rule of the ski rental).
//   word 0  elements (the store's)
//   word 1  samples of local visitors, of class `cpu`; word 2 of remote ones, of class `rma`:
//           bits 20..0 reads, 41..21 writes, 62..42 those of them that had to wait; each modulo
//           2^21
//   word 3, 4  words 1 and 2 at the last look
//   word 5  bits 7..0 the kind that is best, plus one; 23..8 others at the lock, in 1/256;
//           63..24 regret in ns
// *Others.* Under a lock that excludes, the share that waits tells how many there are. Readers that
// share do not wait for one another, and tell nothing: then the last estimate stays.
// *Thread safety.* Words 1 and 2 change by atomics of one class each. Words 3 to 5 are written by
// whoever looks, without a lock: of two looks at once one is forgotten, which costs a sample.
// *Source.* Ski rental: Karlin, Manasse, Rudolph, Sleator, Algorithmica'88.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "keyway/locks/distributed/choose.h"
#include "keyway/locks/distributed/stripe_lock.h"

namespace keyway::store {

inline constexpr std::uint32_t kSampleEvery = 32;  // visits of an agent
inline constexpr std::uint32_t kLookEvery = 8;     // samples of an agent
inline constexpr std::uint64_t kLocalSamplesOffset = 8;
inline constexpr std::uint64_t kRemoteSamplesOffset = 16;
inline constexpr std::uint64_t kSeenOffset = 24;

/// Words 1 and 2.
struct Samples {
  static constexpr std::uint32_t kBits = 21;
  static constexpr std::uint64_t kMask = (1ULL << kBits) - 1;

  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t waited = 0;

  /// What a visitor adds to its word. A field that runs over leaves one too many in the next.
  static constexpr std::uint64_t one(bool reads, bool waits) {
    return (reads ? 1 : 1ULL << kBits) + (waits ? 1ULL << 2 * kBits : 0);
  }
  static constexpr Samples between(std::uint64_t before, std::uint64_t now) {
    const auto field = [&](std::uint32_t shift) {
      return ((now >> shift) - (before >> shift)) & kMask;
    };
    return {field(0), field(kBits), field(2 * kBits)};
  }
  constexpr std::uint64_t all() const { return reads + writes; }
};

/// Word 5.
struct Regret {
  std::uint8_t best = 0;  // plus one; 0: none yet
  double others = 0;
  double ns = 0;

  static Regret from_word(std::uint64_t word) {
    return {static_cast<std::uint8_t>(word & 0xff),
            static_cast<double>(word >> 8 & 0xffff) / kOthersUnit, static_cast<double>(word >> 24)};
  }
  std::uint64_t word() const {
    const auto most = [](double value, double limit) {
      return static_cast<std::uint64_t>(std::min(value, limit));
    };
    return best | most(others * kOthersUnit, 0xffff) << 8 | most(ns, (1ULL << 40) - 1) << 24;
  }

 private:
  static constexpr double kOthersUnit = 256;
};

/// How a store chooses among its kinds.
struct KindChoice {
  std::vector<const locks::Footprint*> kinds;  // of each KindIndex
  locks::PrimitiveCosts costs;
  double agents = 1;  // that may have a kind in mind that is not in force any more
};

/// A stripe's line of counters as it is read.
struct StripeCounters {
  static constexpr std::size_t kWords = 6;
  std::array<std::uint64_t, kWords> words = {};

  Samples local() const { return Samples::between(words[3], words[1]); }
  Samples remote() const { return Samples::between(words[4], words[2]); }
  Regret regret() const { return Regret::from_word(words[5]); }
};

/// What a look at a stripe shows.
struct StripeView {
  locks::Workload workload;
  std::uint64_t samples = 0;  // since the last look
};

/// `shares`: whether readers share under the kind in force.
inline StripeView view_of(const Samples& local, const Samples& remote, bool shares,
                          double others_before) {
  StripeView view;
  view.samples = local.all() + remote.all();
  if (view.samples == 0) return view;
  const auto n = static_cast<double>(view.samples);
  view.workload.reads = static_cast<double>(local.reads + remote.reads) / n;
  view.workload.local = static_cast<double>(local.all()) / n;
  const double waited = std::min(1.0, static_cast<double>(local.waited + remote.waited) / n);
  const double telling = shares ? 1 - view.workload.reads * view.workload.reads : 1;
  // Of those that could be in the way, the share that was; always busy would be any number.
  const double busy = telling > 0 ? std::min(waited / telling, 1 - 1 / (n + 1)) : 0;
  view.workload.others = telling * (busy / (1 - busy)) + (1 - telling) * others_before;
  return view;
}

/// What a switch costs: both locks, the word, and each agent's visit to the lock that is left.
inline double switch_ns(const locks::Footprint& from, const locks::Footprint& to,
                        const locks::Workload& workload, const locks::PrimitiveCosts& costs,
                        double agents) {
  locks::Workload write = workload;
  write.reads = 0;
  return (1 + agents) * locks::visit_ns(from, write, costs) + locks::visit_ns(to, write, costs) +
         costs.rma_atomic_ns;
}

/// Adds a look to the regret. True when a switch to `regret.best - 1` is due.
inline bool weigh(const KindChoice& choice, locks::KindIndex in_force, const StripeView& view,
                  Regret& regret) {
  const locks::Footprint& now = *choice.kinds[in_force];
  const locks::Footprint& best = locks::choose(choice.kinds, view.workload, choice.costs);
  const auto at = std::find(choice.kinds.begin(), choice.kinds.end(), &best);
  const auto number = static_cast<std::uint8_t>(at - choice.kinds.begin() + 1);
  if (number != regret.best || &best == &now) regret.ns = 0;
  regret.best = number;
  regret.others = view.workload.others;
  if (&best == &now) return false;
  regret.ns += (locks::visit_ns(now, view.workload, choice.costs) -
                locks::visit_ns(best, view.workload, choice.costs)) *
               static_cast<double>(view.samples * kSampleEvery);
  return regret.ns >= switch_ns(now, best, view.workload, choice.costs, choice.agents);
}

}  // namespace keyway::store
