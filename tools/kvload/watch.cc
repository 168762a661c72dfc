#include "watch.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>

#include "keyway/locks/base/clock.h"
#include "keyway/workloads/status_line.h"

namespace keyway::kvload {
namespace {

using workloads::Measurements;
using workloads::Metric;

constexpr std::uint64_t kNever = std::numeric_limits<std::int64_t>::max();  // as steady ns
constexpr std::uint64_t kSecondNs = 1'000'000'000;

std::uint64_t done_by(const WorkerSlots& slots) {
  std::uint64_t done = 0;
  for (const auto& slot : slots) done += slot->done.load(std::memory_order_relaxed);
  return done;
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
        status_(job.show && job.spec.status),
        progress_(job.show && !status_ && isatty(STDERR_FILENO) == 1),
        interval_ns_(status_ ? job.spec.status_interval_s * kSecondNs : kSecondNs / 2),
        last_ns_(start_ns),
        next_ns_(status_ || progress_ ? start_ns + interval_ns_ : kNever) {}

  std::uint64_t next_ns() const { return next_ns_; }

  void show(std::uint64_t now_ns) {
    if (now_ns >= next_ns_) next_ns_ = now_ns + interval_ns_;
    const std::uint64_t done = done_by(slots_);
    const workloads::Progress progress{(now_ns - start_ns_) / 1000000,
                                       (now_ns - last_ns_) / 1000000, done, done - last_done_,
                                       operations_ > done ? operations_ - done : 0};
    last_ns_ = now_ns;
    last_done_ = done;
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

  void finish() {
    // The last line already told all when the phase ended with an interval.
    if (status_ && (last_ns_ == start_ns_ || done_by(slots_) != last_done_)) show(steady_ns());
    if (progress_) std::fprintf(stderr, "\r\x1b[K");
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
      const auto* before = last_.find(metric);
      intervals.emplace_back(metric_name(metric),
                             before == nullptr ? series->ok : series->ok.since(before->ok));
    }
    last_ = std::move(now);
    return intervals;
  }

  const WorkerSlots& slots_;
  const Phase& phase_;
  const std::uint64_t operations_;
  const std::uint64_t start_ns_;
  const bool status_;
  const bool progress_;
  const std::uint64_t interval_ns_;
  std::uint64_t last_ns_;
  std::uint64_t next_ns_;
  std::uint64_t last_done_ = 0;
  Measurements last_;
};

}  // namespace

void watch(PhaseState& state, const WorkerSlots& slots, const Job& job, const Phase& phase,
           std::uint64_t operations) {
  Display display(slots, job, phase, operations, state.start_ns());
  const std::uint64_t limit_s = phase.spec.max_execution_s;
  std::uint64_t stop_ns = limit_s == 0 ? kNever : state.start_ns() + limit_s * kSecondNs;
  while (!state.wait_until_finished(std::min(stop_ns, display.next_ns()))) {
    const std::uint64_t now_ns = steady_ns();
    if (now_ns >= stop_ns) {
      state.stop();
      stop_ns = kNever;
    }
    if (now_ns >= display.next_ns()) display.show(now_ns);
  }
  display.finish();
}

}  // namespace keyway::kvload
