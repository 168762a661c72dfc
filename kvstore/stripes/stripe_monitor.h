// StripeMonitor: what a stripe's visitors leave behind, and when that is worth another lock kind.
//
// *What.* One visit in about kSampleEvery leaves a sample in the stripe's line of counters; now and
// then an agent that did so looks at the samples of the stripe's window, and weighs the kinds.
// Regret is what the visits of the window would have saved under the best kind. A switch is due
// once that is more than a switch costs and more than chance makes of so few samples: so a workload
// that wavers pays at most about twice what the better of its kinds costs (the rule of the ski
// rental), and kinds that are about equal do not take turns. A window begins anew with each switch;
// one that has grown long forgets half.
//   word 0  elements (the store's)
//   word 1  samples of local visitors, of class `cpu`; word 2 of remote ones, of class `rma`:
//           bits 20..0 reads, 41..21 writes, 62..42 those of them that had to wait; each modulo
//           2^21
//   word 3, 4  words 1 and 2 where the window begins
//   word 5  bits 15..0 others at the lock, in 1/256, as they were when that could last be told
//   word 6  turns: how often the version of a line has begun anew (the store's; session.h, K6)
// *Others.* Under a lock that excludes, the share that waits tells how many there are. Readers that
// share do not wait for one another, and tell nothing: then the last estimate stays.
// *Thread safety.* Words 1 and 2 change by atomics of one class each. Words 3 to 5 are written by
// whoever looks, without a lock: of two looks at once one is forgotten, which costs a few samples.
// *Source.* Ski rental: Karlin, Manasse, Rudolph, Sleator, Algorithmica'88.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "keyway/locks/distributed/choose.h"
#include "keyway/locks/distributed/stripe_lock.h"

namespace keyway::store {

inline constexpr std::uint32_t kSampleEvery = 32;  // visits of an agent, on average
inline constexpr std::uint32_t kLookEvery = 4;     // samples of an agent
inline constexpr std::uint64_t kMinSamples = 8;    // that a window is weighed with
inline constexpr std::uint64_t kMaxSamples = 128;  // of which a window forgets half
inline constexpr double kDoubt = 2;  // standard deviations that are put down to chance
inline constexpr std::uint64_t kLocalSamplesOffset = 8;
inline constexpr std::uint64_t kRemoteSamplesOffset = 16;
inline constexpr std::uint64_t kWindowOffset = 24;

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
  /// Where a window that ends at `now` begins when it has forgotten half.
  static constexpr std::uint64_t half_way(std::uint64_t before, std::uint64_t now) {
    const Samples half = between(before, now);
    return now - (half.reads / 2 + (half.writes / 2 << kBits) + (half.waited / 2 << 2 * kBits));
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
struct LastOthers {
  static double from_word(std::uint64_t word) { return static_cast<double>(word & kMax) / kUnit; }
  static std::uint64_t word(double others) {
    return static_cast<std::uint64_t>(std::min(others * kUnit, double{kMax}));
  }

 private:
  static constexpr double kUnit = 256;
  static constexpr std::uint64_t kMax = 0xffff;
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
  double others() const { return LastOthers::from_word(words[5]); }
};

/// What a look at a stripe shows.
struct StripeView {
  locks::Workload workload;
  std::uint64_t samples = 0;  // of the window
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

/// What a look comes to.
struct Verdict {
  locks::KindIndex best = 0;
  double regret_ns = 0;  // what the window's visits would have saved under it
  double doubt_ns = 0;   // what chance may make of so many samples
  bool due = false;      // a switch to it
};

/// Standard deviation, over one visit, of what `to` saves against `from`: visits are of four sorts,
/// and the window has counted how many of each. One sample more than there are, of all sorts alike,
/// stands for those that have not been met. Who else is there is the same for both kinds, and is
/// left out.
inline double saving_deviation(const locks::Footprint& from, const locks::Footprint& to,
                               const StripeView& view, const locks::PrimitiveCosts& costs) {
  const locks::Workload& w = view.workload;
  const auto n = static_cast<double>(view.samples);
  double mean = 0;
  double square = 0;
  for (const double read : {0.0, 1.0}) {
    for (const double local : {0.0, 1.0}) {
      const double share =
          (read != 0 ? w.reads : 1 - w.reads) * (local != 0 ? w.local : 1 - w.local);
      const double weight = (n * share + 0.25) / (n + 1);
      const locks::Workload sort{.reads = read, .local = local};
      const double saved = locks::visit_ns(from, sort, costs) - locks::visit_ns(to, sort, costs);
      mean += weight * saved;
      square += weight * saved * saved;
    }
  }
  return std::sqrt(std::max(0.0, square - mean * mean));
}

/// Weighs the kinds for what a window shows.
inline Verdict weigh(const KindChoice& choice, locks::KindIndex in_force, const StripeView& view) {
  const locks::Footprint& now = *choice.kinds[in_force];
  const locks::Footprint& best = locks::choose(choice.kinds, view.workload, choice.costs);
  const auto at = std::find(choice.kinds.begin(), choice.kinds.end(), &best);
  Verdict verdict{.best = static_cast<locks::KindIndex>(at - choice.kinds.begin())};
  if (&best == &now) return verdict;
  const auto n = static_cast<double>(view.samples);
  verdict.regret_ns = n * kSampleEvery *
                      (locks::visit_ns(now, view.workload, choice.costs) -
                       locks::visit_ns(best, view.workload, choice.costs));
  // A sample stands for the visits since the one before, so it is they that chance has drawn.
  verdict.doubt_ns =
      kDoubt * std::sqrt(n) * kSampleEvery * saving_deviation(now, best, view, choice.costs);
  verdict.due = verdict.regret_ns >=
                verdict.doubt_ns + switch_ns(now, best, view.workload, choice.costs, choice.agents);
  return verdict;
}

}  // namespace keyway::store
