// RankAnswers: how each rank answers the operations of this process.
//
// *Why.* An agent that waits for a lock operation of a rank that stands still cannot leave it
// half-way. So it asks first, unless the rank has just answered some agent here. And operators want
// to know which rank holds up the others: the log names one when it falls silent, and when it
// answers again.
// *Thread safety.* Any thread. The figures of a rank are not from one instant.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "keyway/locks/base/clock.h"

namespace keyway::fabric {

/// An answer is no proof of life for longer. Under load ranks answer more often than that, and no
/// question is asked.
inline constexpr std::uint64_t kFreshNs = 1'000'000;

/// A rank that operations have waited for, and that has answered none for this long, is silent. On
/// a busy machine a rank may not run for some hundred ms. If no operation has looked for an answer
/// for this long, the time starts again: nobody has asked, or this process itself stood still.
inline constexpr std::uint64_t kSilentNs = 1'000'000'000;

class RankAnswers {
 public:
  /// Since the start.
  struct Waits {
    std::uint64_t answered = 0;     // waits that ended in an answer
    std::uint64_t answered_ns = 0;  // how long they took, in all
    std::uint64_t unanswered = 0;   // waits that ended at a deadline
    bool silent = false;
  };

  explicit RankAnswers(std::uint32_t ranks) : ranks_(ranks) {}

  /// When an answer came: in the wait for it, or at this moment. Only the latter shows that the
  /// rank is there now.
  enum class Came : std::uint8_t { kMeanwhile, kNow };
  /// An operation that has waited since `begun_ns` is answered.
  void answered(std::uint32_t rank, std::uint64_t begun_ns, Came came) {
    answered(rank, begun_ns, steady_ns(), came);
  }
  void answered(std::uint32_t rank, std::uint64_t begun_ns, std::uint64_t now_ns, Came came);
  /// Operations that were posted at `posted_ns` are found to have been answered some time since.
  void found_answered(std::uint32_t rank, std::uint64_t posted_ns) { heard(rank, posted_ns); }
  /// An operation that has waited since `begun_ns` looks for the answer in vain.
  void waits_on(std::uint32_t rank, std::uint64_t begun_ns, std::uint64_t now_ns);
  /// Its deadline has passed.
  void unanswered(std::uint32_t rank, std::uint64_t begun_ns, std::uint64_t now_ns) {
    ranks_[rank].unanswered.fetch_add(1, std::memory_order_relaxed);
    waits_on(rank, begun_ns, now_ns);
  }

  bool is_fresh(std::uint32_t rank) const {
    return steady_ns() - ranks_[rank].there_ns.load(std::memory_order_relaxed) < kFreshNs;
  }
  Waits waits(std::uint32_t rank) const;

 private:
  /// The rank has answered at this time, or after it.
  void heard(std::uint32_t rank, std::uint64_t at_ns);

  // relaxed, all of them: hints and figures, which publish nothing. A line each, since agents of
  // all threads write them.
  struct alignas(64) Rank {
    std::atomic<std::uint64_t> there_ns{0};   // when it was there
    std::atomic<std::uint64_t> heard_ns{0};   // when it answered last, or later
    std::atomic<std::uint64_t> looked_ns{0};  // when an operation last looked in vain
    std::atomic<std::uint64_t> since_ns{0};   // since when it is waited for without an answer
    std::atomic<bool> silent{false};
    std::atomic<std::uint64_t> answered{0};
    std::atomic<std::uint64_t> answered_ns{0};
    std::atomic<std::uint64_t> unanswered{0};
  };

  std::vector<Rank> ranks_;
};

}  // namespace keyway::fabric
