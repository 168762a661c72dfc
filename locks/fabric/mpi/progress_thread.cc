#include "keyway/locks/fabric/mpi/progress_thread.h"

#include <sys/prctl.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "keyway/locks/base/check.h"
#include "keyway/locks/base/clock.h"

namespace keyway::fabric {
namespace {

/// The thread of this process, while it has a duty. Never destroyed: a fabric may live in a global
/// variable.
struct TheThread {
  Mutex mutex;
  std::weak_ptr<ProgressThread> running KW_GUARDED_BY(mutex);
};
TheThread& the_thread() {
  static TheThread* const here = std::make_unique<TheThread>().release();
  return *here;
}

}  // namespace

ProgressThread::Duty::Duty(std::shared_ptr<MpiInterface> mpi, const RankService& service,
                           std::uint32_t rest_us, bool announced)
    : thread_(of_process(std::move(mpi))) {
  const std::chrono::microseconds rest(std::max(rest_us, kShortestRestUs));
  thread_->join({.of = this,
                 .service = &service,
                 .rest = rest,
                 // A longer rest says that nobody is to be answered sooner.
                 .announced = announced && rest.count() <= kLongestRestUs,
                 .runs_seen = service.runs()});
}
ProgressThread::Duty::~Duty() { thread_->leave(*this); }
void ProgressThread::Duty::repeat(std::chrono::milliseconds every, std::function<void()> body) {
  thread_->repeat(*this, every, std::move(body));
}

std::shared_ptr<ProgressThread> ProgressThread::of_process(std::shared_ptr<MpiInterface> mpi) {
  TheThread& here = the_thread();
  const MutexLock guard(here.mutex);
  if (auto running = here.running.lock()) return running;
  auto made = std::make_shared<ProgressThread>(std::move(mpi));
  here.running = made;
  return made;
}

ProgressThread::ProgressThread(std::shared_ptr<MpiInterface> mpi)
    : mpi_(std::move(mpi)), arrivals_(mpi_->event_sets()), thread_([this] { run(); }) {}

ProgressThread::~ProgressThread() {
  {
    const MutexLock guard(mutex_);
    stop_ = true;
  }
  arrivals_.wake();
  thread_.join();
}

void ProgressThread::join(Work work) {
  {
    const MutexLock guard(mutex_);
    works_.push_back(std::move(work));
    span_ = shortest_rest();
  }
  arrivals_.wake();
}

void ProgressThread::leave(const Duty& duty) {
  const MutexLock guard(mutex_);
  std::erase_if(works_, [&](const Work& work) { return work.of == &duty; });
}

void ProgressThread::repeat(const Duty& duty, std::chrono::milliseconds every,
                            std::function<void()> body) {
  const MutexLock guard(mutex_);
  for (Work& work : works_) {
    if (work.of != &duty) continue;
    KW_CHECK(work.body == nullptr);
    work.body = std::move(body);
    work.body_every_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(every).count());
    return work.call_body();
  }
}

void ProgressThread::Work::call_body() {
  const std::uint64_t now = steady_ns();
  if (body == nullptr || now < body_due_ns) return;
  body_due_ns = now + body_every_ns;
  body();
}

std::chrono::microseconds ProgressThread::shortest_rest() const {
  if (works_.empty()) return std::chrono::microseconds(kLongestRestUs);
  const auto shorter = [](const Work& a, const Work& b) { return a.rest < b.rest; };
  return std::min_element(works_.begin(), works_.end(), shorter)->rest;
}

bool ProgressThread::announced() const {
  return !works_.empty() &&
         std::all_of(works_.begin(), works_.end(), [](const Work& work) { return work.announced; });
}

void ProgressThread::run() {
  // By default Linux wakes a thread up to 50 us late, which is longer than the rest itself.
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
  const MutexLock guard(mutex_);
  entries_seen_ = mpi_->entries();
  busy_ns_ = steady_ns();
  while (rest()) check();
}

/// At the watch that ends the thread, so that the end is never waited for. False at the end.
bool ProgressThread::rest() {
  auto end = ArrivalWatch::End::kWoken;
  while (!stop_ && end == ArrivalWatch::End::kWoken) {
    const bool quiet = announced() && steady_ns() - busy_ns_ >= kQuietNs;
    rested_ = quiet ? std::chrono::microseconds(kLongestRestUs) : span_;
    const std::chrono::microseconds rest = rested_;
    mutex_.unlock();
    end = arrivals_.wait(rest, quiet);
    mutex_.lock();
  }
  // Also if the look finds nothing: a thread in MPI may keep it out, and it must not spin.
  if (end == ArrivalWatch::End::kMessage) busy_ns_ = steady_ns();
  return !stop_;
}

void ProgressThread::check() {
  const std::uint64_t entries = mpi_->entries();
  const std::chrono::microseconds shortest = shortest_rest();
  // As often as this thread would have, on average?
  bool by_others = static_cast<std::int64_t>(entries - entries_seen_) * shortest >= rested_;
  for (const Work& work : works_) {
    // An agent that posts a batch runs no service for long, and needs its processor.
    if (work.service->active() && work.service->runs() == work.runs_seen) by_others = false;
  }
  const auto longest = std::max(shortest, std::chrono::microseconds(kLongestRestUs));
  span_ = by_others ? std::min(2 * span_, longest) : shortest;
  const bool others = entries != entries_seen_;
  const bool more = others ? serve() : look();
  if (others || more) busy_ns_ = steady_ns();
  for (Work& work : works_) {
    work.runs_seen = work.service->runs();
    work.call_body();
  }
  entries_seen_ = mpi_->entries();  // services enter MPI, too
}

/// Again while there is something to do: more is likely to come, and its sender waits. Whether
/// there was, or may be more.
bool ProgressThread::look() {
  bool more = false;
  const bool told = announced();  // the mutex is held, so it stays so
  std::uint64_t begun = steady_ns();
  for (int i = 0; i < kLooksAtOnce; ++i) {
    const bool arrived = told && arrivals_.arrived();
    mpi_->progress();
    more = serve();
    const std::uint64_t ended = steady_ns();
    if (told ? !arrived : ended - begun < kEmptyLookNs) return more || i > 0;
    begun = ended;
  }
  return true;
}

/// Whether a service may have work left.
bool ProgressThread::serve() {
  bool more = false;
  for (const Work& work : works_) {
    if (work.service->active() && work.service->run()) more = true;
  }
  return more;
}

}  // namespace keyway::fabric
