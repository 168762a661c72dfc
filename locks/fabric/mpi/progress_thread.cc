#include "keyway/locks/fabric/mpi/progress_thread.h"

#include <sys/prctl.h>

#include <algorithm>
#include <utility>

namespace keyway::fabric {

ProgressThread::ProgressThread(std::shared_ptr<MpiInterface> mpi, std::uint32_t rest_us)
    : mpi_(std::move(mpi)), rest_(std::max(rest_us, kShortestRestUs)), thread_([this] { run(); }) {}

ProgressThread::~ProgressThread() {
  {
    const std::lock_guard guard(mutex_);
    stop_ = true;
  }
  stopped_.notify_one();
  thread_.join();
}

void ProgressThread::run() {
  // By default Linux wakes a thread up to 50 us late, which is longer than the rest itself.
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
  std::uint64_t entries_seen = mpi_->entries();
  std::unique_lock guard(mutex_);
  // Rests on the condition that ends the thread, so that the end is never waited for.
  while (!stopped_.wait_for(guard, rest_, [this] { return stop_; })) {
    const std::uint64_t entries = mpi_->entries();
    if (entries == entries_seen) mpi_->progress();
    entries_seen = entries;
  }
}

}  // namespace keyway::fabric
