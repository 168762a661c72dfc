#include "keyway/locks/fabric/mpi/rank_answers.h"

#include <fmt/core.h>

#include "keyway/locks/base/log.h"

namespace keyway::fabric {
namespace {

/// An operation does not fail because a line about its rank cannot be written.
template <class... Values>
void warn(fmt::format_string<Values...> line, Values... values) noexcept {
  try {
    log::warning(fmt::format(line, values...));
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

void RankAnswers::answered(std::uint32_t rank, std::uint64_t begun_ns, std::uint64_t now_ns,
                           bool just) {
  Rank& of = ranks_[rank];
  if (just) of.last_ns.store(now_ns, std::memory_order_relaxed);
  of.answered.fetch_add(1, std::memory_order_relaxed);
  of.answered_ns.fetch_add(now_ns - begun_ns, std::memory_order_relaxed);
  if (of.since_ns.load(std::memory_order_relaxed) == 0) return;
  const std::uint64_t since = of.since_ns.exchange(0, std::memory_order_relaxed);
  if (!of.silent.load(std::memory_order_relaxed)) return;
  if (of.silent.exchange(false, std::memory_order_relaxed)) {
    warn("rank {} answers again, after {:.1f} s", rank, seconds(now_ns - since));
  }
}

void RankAnswers::waits_on(std::uint32_t rank, std::uint64_t begun_ns, std::uint64_t now_ns) {
  Rank& of = ranks_[rank];
  std::uint64_t since = of.since_ns.load(std::memory_order_relaxed);
  if (since == 0 || begun_ns > of.waited_ns.load(std::memory_order_relaxed) + kSilentNs) {
    since = begun_ns;
    of.since_ns.store(since, std::memory_order_relaxed);
  }
  of.waited_ns.store(now_ns, std::memory_order_relaxed);
  // Another thread's wait may have begun after `now_ns`.
  if (now_ns < since + kSilentNs || of.silent.exchange(true, std::memory_order_relaxed)) return;
  warn("rank {} has not answered for {:.1f} s: operations that need it wait until their deadlines",
       rank, seconds(now_ns - since));
}

RankAnswers::Waits RankAnswers::waits(std::uint32_t rank) const {
  const Rank& of = ranks_[rank];
  return {.answered = of.answered.load(std::memory_order_relaxed),
          .answered_ns = of.answered_ns.load(std::memory_order_relaxed),
          .unanswered = of.unanswered.load(std::memory_order_relaxed),
          .silent = of.silent.load(std::memory_order_relaxed)};
}

}  // namespace keyway::fabric
