#include "keyway/locks/fabric/mpi/rank_answers.h"

#include <fmt/core.h>

#include <algorithm>

#include "keyway/locks/base/log.h"

namespace keyway::fabric {
namespace {

/// An operation does not fail because a line about its rank cannot be written.
template <class... Values>
void warn(fmt::string_view line, const Values&... values) noexcept {
  try {
    log::warning(fmt::vformat(line, fmt::make_format_args(values...)));
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

void RankAnswers::answered(std::uint32_t rank, std::uint64_t begun_ns, std::uint64_t now_ns,
                           Came came) {
  Rank& of = ranks_[rank];
  if (came == Came::kNow) of.there_ns.store(now_ns, std::memory_order_relaxed);
  of.answered.fetch_add(1, std::memory_order_relaxed);
  of.answered_ns.fetch_add(now_ns - begun_ns, std::memory_order_relaxed);
  heard(rank, now_ns);
}

void RankAnswers::heard(std::uint32_t rank, std::uint64_t at_ns) {
  Rank& of = ranks_[rank];
  // Of two threads the earlier answer may stay: the next one comes soon, or the rank is silent.
  if (at_ns > of.heard_ns.load(std::memory_order_relaxed)) {
    of.heard_ns.store(at_ns, std::memory_order_relaxed);
  }
  if (!of.silent.load(std::memory_order_relaxed)) return;
  const std::uint64_t since = of.since_ns.load(std::memory_order_relaxed);
  if (at_ns <= since || !of.silent.exchange(false, std::memory_order_relaxed)) return;
  warn("rank {} answers again, after {:.1f} s", rank, seconds(at_ns - since));
}

void RankAnswers::waits_on(std::uint32_t rank, std::uint64_t begun_ns, std::uint64_t now_ns) {
  Rank& of = ranks_[rank];
  const std::uint64_t looked = of.looked_ns.exchange(now_ns, std::memory_order_relaxed);
  const std::uint64_t heard = of.heard_ns.load(std::memory_order_relaxed);
  std::uint64_t since = of.since_ns.load(std::memory_order_relaxed);
  const bool paused = now_ns > looked + kSilentNs;
  if (paused || since <= heard) {
    since = paused ? now_ns : std::max(begun_ns, heard);
    of.since_ns.store(since, std::memory_order_relaxed);
  }
  // Another thread's look may be later than `now_ns`.
  if (now_ns < since + kSilentNs || of.silent.exchange(true, std::memory_order_relaxed)) return;
  if (of.heard_ns.load(std::memory_order_relaxed) > since) {  // meanwhile
    of.silent.store(false, std::memory_order_relaxed);
    return;
  }
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
