#include "watch.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

#include "interrupt.h"
#include "keyway/locks/base/clock.h"
#include "keyway/workloads/outage.h"
#include "keyway/workloads/status_line.h"

namespace keyway::kvload {
namespace {

using workloads::Measurements;
using workloads::Metric;

constexpr std::uint64_t kNever = std::numeric_limits<std::int64_t>::max();  // as steady ns
constexpr std::uint64_t kSecondNs = 1'000'000'000;

// A signal, a peer's wish to end and an outage are looked for this often: soon for a person, and
// seldom enough that the workers do not notice.
constexpr std::uint64_t kLookNs = kSecondNs / 10;

struct Counts {
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t served = 0;
  std::uint64_t unserved = 0;
};

Counts counts_of(const WorkerSlots& slots) {
  Counts counts;
  for (const auto& slot : slots) {
    counts.done += slot->done.load(std::memory_order_relaxed);
    counts.failed += slot->failed.load(std::memory_order_relaxed);
    counts.served += slot->served.load(std::memory_order_relaxed);
    counts.unserved += slot->unserved.load(std::memory_order_relaxed);
  }
  return counts;
}

/// Prints at a fixed interval what happened since it last did.
class Display {
 public:
  Display(const WorkerSlots& slots, const Job& job, const Phase& phase, std::uint64_t operations,
          std::uint64_t start_ns)
      : slots_(slots),
        phase_(phase),
        operations_(operations),
        start_ns_(start_ns),
        show_(job.show),
        status_(job.show && job.spec.status),
        progress_(job.show && !status_ && isatty(STDERR_FILENO) == 1),
        interval_ns_(status_ ? job.spec.status_interval_s * kSecondNs : kSecondNs / 2),
        last_ns_(start_ns),
        next_ns_(status_ || progress_ ? start_ns + interval_ns_ : kNever) {}

  std::uint64_t next_ns() const { return next_ns_; }

  void show(std::uint64_t now_ns) {
    if (now_ns >= next_ns_) next_ns_ = now_ns + interval_ns_;
    const Counts now = counts_of(slots_);
    const workloads::Progress progress{(now_ns - start_ns_) / 1000000,
                                       (now_ns - last_ns_) / 1000000,
                                       now.done,
                                       now.done - last_.done,
                                       operations_ > now.done ? operations_ - now.done : 0,
                                       now.failed,
                                       now.failed - last_.failed};
    last_ns_ = now_ns;
    last_ = now;
    if (status_) {
      const auto since_last = take_intervals();
      const std::string line =
          workloads::status_line(phase_.spec.label, wall_ms(), progress, since_last);
      std::fprintf(stderr, "%s\n", line.c_str());
    } else if (progress_) {
      // The escape clears what a longer line left behind.
      const std::string line = workloads::progress_line(phase_.title(), progress);
      std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
      std::fflush(stderr);
    }
  }

  /// Explains once why an interrupted phase continues.
  void explain_delay() {
    if (!show_ || std::exchange(explained_, true)) return;
    std::fprintf(stderr,
                 "%skvload: operations under way are waited for; a second signal ends all\n",
                 progress_ ? "\n" : "");
  }

  /// A phase that ended early leaves its progress line on the terminal.
  void finish(PhaseEnd end) {
    // If the phase ended with an interval, the last line was complete.
    if (status_ && (last_ns_ == start_ns_ || counts_of(slots_).done != last_.done)) {
      show(steady_ns());
    }
    if (progress_ && !explained_) {
      std::fputs(end == PhaseEnd::kCompleted ? "\r\x1b[K" : "\n", stderr);
    }
  }

 private:
  std::vector<std::pair<std::string, Histogram>> take_intervals() {
    Measurements now;
    for (const auto& slot : slots_) now.merge(slot->measured);
    std::vector<std::pair<std::string, Histogram>> intervals;
    for (std::size_t i = 0; i < workloads::kMetrics; ++i) {
      const auto metric = static_cast<Metric>(i);
      const auto* series = now.find(metric);
      if (series == nullptr || series->ok.count() == 0) continue;
      const auto* before = last_measured_.find(metric);
      intervals.emplace_back(metric_name(metric),
                             before == nullptr ? series->ok : series->ok.since(before->ok));
    }
    last_measured_ = std::move(now);
    return intervals;
  }

  const WorkerSlots& slots_;
  const Phase& phase_;
  const std::uint64_t operations_;
  const std::uint64_t start_ns_;
  const bool show_;
  const bool status_;
  const bool progress_;
  const std::uint64_t interval_ns_;
  std::uint64_t last_ns_;
  std::uint64_t next_ns_;
  bool explained_ = false;
  Counts last_;
  Measurements last_measured_;
};

/// Whether the phase is to end before its time, and why.
PhaseEnd early_end(workloads::Outage& outage, const Counts& now, std::uint64_t now_ns,
                   Peers& peers) {
  if (was_interrupted()) {
    peers.ask_all_to_end();
    return PhaseEnd::kInterrupted;
  }
  if (peers.asked_to_end()) return PhaseEnd::kInterrupted;
  if (!outage.is_over_limit(now_ns, now.served, now.unserved)) return PhaseEnd::kCompleted;
  peers.ask_all_to_end();
  return PhaseEnd::kGaveUp;
}

}  // namespace

PhaseEnd watch(PhaseState& state, const WorkerSlots& slots, const Job& job, const Phase& phase,
               std::uint64_t operations, Peers& peers) {
  Display display(slots, job, phase, operations, state.start_ns());
  workloads::Outage outage(job.options.give_up_after_s * kSecondNs);
  PhaseEnd end = PhaseEnd::kCompleted;
  const std::uint64_t limit_s = phase.spec.max_execution_s;
  std::uint64_t stop_ns = limit_s == 0 ? kNever : state.start_ns() + limit_s * kSecondNs;
  std::uint64_t look_ns = state.start_ns();
  while (!state.wait_until_finished(std::min({stop_ns, look_ns, display.next_ns()}))) {
    const std::uint64_t now_ns = steady_ns();
    if (now_ns >= stop_ns) {
      state.stop();
      stop_ns = kNever;
    }
    if (now_ns >= look_ns) {
      look_ns = now_ns + kLookNs;
      if (end == PhaseEnd::kCompleted) {
        end = early_end(outage, counts_of(slots), now_ns, peers);
        if (end != PhaseEnd::kCompleted) state.stop();
      } else if (end == PhaseEnd::kInterrupted) {
        display.explain_delay();
      }
    }
    if (now_ns >= display.next_ns() && !state.stopped()) display.show(now_ns);
  }
  display.finish(end);
  return end;
}

}  // namespace keyway::kvload
