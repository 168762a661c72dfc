// StripeMonitor: samples of the acquisitions of a stripe, and the decision to switch its lock kind.
//
// *What.* One acquisition in about kSampleEvery leaves a sample in the stripe's line of counters;
// now and then an agent that did so reads the samples of the stripe's window, and compares the
// kinds. Regret is the time that the acquisitions of the window would have saved under the best
// kind. A switch is due once the regret exceeds the cost of a switch and the effect of chance on so
// few samples.
// So a changing workload costs at most about twice the better of its kinds (the ski-rental rule),
// and kinds that are about equal do not alternate. Each switch starts a new window; a window that
// has grown long forgets half.
//   word 0  elements (the store's)
//   word 1  samples of local agents, of class `cpu`; word 2 of remote ones, of class `rma`:
//           bits 20..0 reads, 41..21 writes, 62..42 those of them that had to wait; each modulo
//           2^21
//   word 3, 4  words 1 and 2 at the start of the window
//   word 5  bits 15..0 contenders, in 1/256, as of the last time that they were known
//   word 6  epoch: wrap-arounds of a line's version (the store's; session.h, K6)
// *Contenders.* Under a lock that excludes, the share that waits tells how many there are. Readers
// that share do not wait for one another, and give no information: then the last estimate remains.
// *Thread safety.* Words 1 and 2 change by atomics of one class each. A reviewing agent writes
// words 3 to 5 without a lock: one of two concurrent reviews is lost, which costs a few samples.
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

inline constexpr std::uint32_t kSampleEvery = 32;  // acquisitions of an agent, on average
inline constexpr std::uint32_t kLookEvery = 3;     // samples of an agent
inline constexpr std::uint64_t kMinSamples = 3;    // in a window, for a review
inline constexpr std::uint64_t kMaxSamples = 128;  // a window with more forgets half
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

  /// The addition of one sample to its word. An overflowing field carries one into the next.
  static constexpr std::uint64_t one(bool reads, bool waits) {
    return (reads ? 1 : 1ULL << kBits) + (waits ? 1ULL << 2 * kBits : 0);
  }
  /// The start of a window that ends at `now`, after it has forgotten half.
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
struct LastContenders {
  static double from_word(std::uint64_t word) { return static_cast<double>(word & kMax) / kUnit; }
  static std::uint64_t word(double contenders) {
    return static_cast<std::uint64_t>(std::min(contenders * kUnit, double{kMax}));
  }

 private:
  static constexpr double kUnit = 256;
  static constexpr std::uint64_t kMax = 0xffff;
};

/// How a store chooses among its kinds.
struct KindChoice {
  std::vector<const locks::Footprint*> kinds;  // for each KindIndex
  locks::PrimitiveCosts costs;
  double agents = 1;  // that may remember a kind that is no longer active
};

/// A stripe's line of counters as it is read.
struct StripeCounters {
  static constexpr std::size_t kWords = 6;
  std::array<std::uint64_t, kWords> words = {};

  Samples local() const { return Samples::between(words[3], words[1]); }
  Samples remote() const { return Samples::between(words[4], words[2]); }
  double contenders() const { return LastContenders::from_word(words[5]); }
};

/// The results of a review of a stripe.
struct StripeView {
  locks::Workload workload;
  std::uint64_t samples = 0;  // in the window
};

/// `shares`: whether readers share under the active kind.
inline StripeView view_of(const Samples& local, const Samples& remote, bool shares,
                          double contenders_before) {
  StripeView view;
  view.samples = local.all() + remote.all();
  if (view.samples == 0) return view;
  const auto n = static_cast<double>(view.samples);
  view.workload.reads = static_cast<double>(local.reads + remote.reads) / n;
  view.workload.local = static_cast<double>(local.all()) / n;
  const double waited = std::min(1.0, static_cast<double>(local.waited + remote.waited) / n);
  const double telling = shares ? 1 - view.workload.reads * view.workload.reads : 1;
  // The share of conflicting acquisitions that found the lock busy; at 1 the number of contenders
  // would be arbitrary.
  const double busy = telling > 0 ? std::min(waited / telling, 1 - 1 / (n + 1)) : 0;
  view.workload.contenders = telling * (busy / (1 - busy)) + (1 - telling) * contenders_before;
  return view;
}

/// The cost of a switch: both locks, the word, and each agent's acquisition of the old lock.
inline double switch_ns(const locks::Footprint& from, const locks::Footprint& to,
                        const locks::Workload& workload, const locks::PrimitiveCosts& costs,
                        double agents) {
  locks::Workload write = workload;
  write.reads = 0;
  return (1 + agents) * locks::acquisition_ns(from, write, costs) +
         locks::acquisition_ns(to, write, costs) + costs.rma_atomic_ns;
}

/// The decision of a review.
struct Verdict {
  locks::KindIndex best = 0;
  double regret_ns = 0;  // the time that the window's acquisitions would have saved under it
  double doubt_ns = 0;   // the effect of chance with this number of samples
  bool due = false;      // a switch to it
};

/// Standard deviation, over one acquisition, of the time that `to` saves against `from`: there are
/// four types of acquisitions, and the window has counted each. One additional sample, shared
/// equally by all types, represents acquisitions that have not occurred. The contenders are the
/// same for both kinds, and are left out.
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
      const double saved =
          locks::acquisition_ns(from, sort, costs) - locks::acquisition_ns(to, sort, costs);
      mean += weight * saved;
      square += weight * saved * saved;
    }
  }
  return std::sqrt(std::max(0.0, square - mean * mean));
}

/// Compares the kinds by what a window shows.
inline Verdict review_lock_kind(const KindChoice& choice, locks::KindIndex in_force,
                                const StripeView& view) {
  const locks::Footprint& now = *choice.kinds[in_force];
  const locks::Footprint& best = locks::choose(choice.kinds, view.workload, choice.costs);
  const auto at = std::find(choice.kinds.begin(), choice.kinds.end(), &best);
  Verdict verdict{.best = static_cast<locks::KindIndex>(at - choice.kinds.begin())};
  if (&best == &now) return verdict;
  const auto n = static_cast<double>(view.samples);
  verdict.regret_ns = n * kSampleEvery *
                      (locks::acquisition_ns(now, view.workload, choice.costs) -
                       locks::acquisition_ns(best, view.workload, choice.costs));
  // A sample stands for the acquisitions since the one before, so they are the random draw.
  verdict.doubt_ns =
      kDoubt * std::sqrt(n) * kSampleEvery * saving_deviation(now, best, view, choice.costs);
  verdict.due = verdict.regret_ns >=
                verdict.doubt_ns + switch_ns(now, best, view.workload, choice.costs, choice.agents);
  return verdict;
}

}  // namespace keyway::store
