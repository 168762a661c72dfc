#include "keyway/locks/fabric/mpi/progress_thread.h"

#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include "keyway/locks/base/check.h"
#include "keyway/locks/base/clock.h"

namespace keyway::fabric {

ProgressThread::ProgressThread(std::shared_ptr<MpiInterface> mpi, const RankService& service,
                               std::uint32_t rest_us)
    : mpi_(std::move(mpi)),
      service_(service),
      rest_(std::max(rest_us, kShortestRestUs)),
      thread_([this] { run(); }) {}

ProgressThread::~ProgressThread() {
  {
    const MutexLock guard(mutex_);
    stop_ = true;
  }
  stopped_.notify_one();
  thread_.join();
}

void ProgressThread::repeat(std::chrono::milliseconds every, std::function<void()> body) {
  const MutexLock guard(mutex_);
  KW_CHECK(body_ == nullptr);
  body_ = std::move(body);
  body_every_ns_ = static_cast<std::uint64_t>(std::chrono::nanoseconds(every).count());
  call_body();
}

void ProgressThread::call_body() {
  const std::uint64_t now = steady_ns();
  if (now < body_due_ns_) return;
  body_due_ns_ = now + body_every_ns_;
  body_();
}

/// On the condition that ends the thread, so that the end is never waited for. False at the end.
bool ProgressThread::rest(std::chrono::microseconds span) {
  const auto ends = std::chrono::steady_clock::now() + span;
  while (!stop_ && stopped_.wait_until(mutex_, ends)) {
  }
  return !stop_;
}

void ProgressThread::run() {
  // By default Linux wakes a thread up to 50 us late, which is longer than the rest itself.
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
  const std::chrono::microseconds longest =
      std::max(rest_, std::chrono::microseconds(kLongestRestUs));
  std::chrono::microseconds span = rest_;
  std::uint64_t entries_seen = mpi_->entries();
  std::uint64_t runs_seen = service_.runs();
  const MutexLock guard(mutex_);
  while (rest(span)) {
    const std::uint64_t entries = mpi_->entries();
    if (entries == entries_seen) mpi_->progress();
    const std::uint64_t runs = service_.runs();
    const bool serves = service_.active();
    if (serves) service_.run();
    // As often as this thread would have, on average?
    const auto driven = [&](std::uint64_t times) {
      return times * static_cast<std::uint64_t>(rest_.count()) >=
             static_cast<std::uint64_t>(span.count());
    };
    // An agent that posts a batch runs no service for long, and needs its processor.
    const bool by_others = driven(entries - entries_seen) && (!serves || runs != runs_seen);
    span = by_others ? std::min(2 * span, longest) : rest_;
    // The service enters MPI, too.
    entries_seen = mpi_->entries();
    runs_seen = service_.runs();
    if (body_ != nullptr) call_body();
  }
}

}  // namespace keyway::fabric
