#include "keyway/locks/fabric/fiber.h"

#include <sched.h>

#include <deque>
#include <exception>
#include <utility>
#include <vector>

#include "keyway/locks/base/check.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/fiber_time.h"
#include "keyway/locks/fabric/time_slice.h"

namespace keyway::fabric {
namespace {

// Rounds are short, and on a busy machine a yield may cost a whole time slice.
constexpr std::uint32_t kRoundsBeforeYield = 16;

// The fiber that this thread is running.
thread_local FiberContext* current = nullptr;
thread_local std::uint64_t slice_ns = kSliceNs;
// The end of the current fiber's time slice; 0 until its first query, so that short work reads no
// clock.
thread_local std::uint64_t slice_ends_ns = 0;

void resume(FiberContext& fiber) {
  current = &fiber;
  slice_ends_ns = 0;
  fiber.resume();
  current = nullptr;
}

/// The waits of a pool's fiber.
struct Waits {
  this_fiber::Waited total;
  std::uint64_t since_ns = 0;  // for a busy fiber: when it last yielded
  enum class For : std::uint8_t { kLock, kNetwork, kTurn } waits_for = For::kLock;

  void end(std::uint64_t now) {
    if (waits_for == For::kTurn) return;
    (waits_for == For::kNetwork ? total.network_ns : total.lock_ns) += now - since_ns;
  }
};
// The waits of the fiber that this thread is running; null outside a pool's fibers.
thread_local Waits* current_waits = nullptr;
thread_local this_fiber::Progress made_progress;

void wait_for(Waits::For what) {
  if (current_waits != nullptr) current_waits->waits_for = what;
}
bool waits_for(Waits::For what) {
  return current_waits != nullptr && current_waits->waits_for == what;
}

}  // namespace

void run_fibers(std::size_t n, const std::function<void(std::size_t)>& body,
                std::size_t stack_bytes) {
  KW_CHECK_MSG(current == nullptr, "run_fibers", "fibers do not start fibers");
  std::deque<FiberContext> fibers;
  for (std::size_t i = 0; i < n; ++i) fibers.emplace_back([&body, i] { body(i); }, stack_bytes);
  std::uint32_t rounds = 0;
  for (std::size_t left = n; left > 0;) {
    for (FiberContext& fiber : fibers) {
      if (fiber.finished()) continue;
      resume(fiber);
      if (fiber.finished()) --left;
    }
    if (left > 0 && ++rounds % kRoundsBeforeYield == 0) sched_yield();
  }
  for (const FiberContext& fiber : fibers) {
    if (fiber.failure()) std::rethrow_exception(fiber.failure());
  }
}

struct FiberPool::Impl {
  Body body;
  std::deque<FiberContext> fibers;
  std::vector<bool> working;      // of each fiber
  std::vector<std::size_t> idle;  // the last used fiber is warm, and comes last
  std::vector<std::size_t> busy;
  std::vector<Waits> waits;  // of each fiber
  bool ending = false;

  void go_on(std::size_t i) {
    current_waits = &waits[i];
    resume(fibers[i]);
    current_waits = nullptr;
  }

  void live(std::size_t i) {
    while (true) {
      while (!working[i] && !ending) fibers[i].suspend();
      if (!working[i]) return;
      [&]() noexcept { body(i); }();
      working[i] = false;
    }
  }
};

FiberPool::FiberPool(std::size_t fibers, Body body, std::size_t stack_bytes)
    : impl_(std::make_unique<Impl>()) {
  Impl& self = *impl_;
  self.body = std::move(body);
  self.working.resize(fibers);
  self.waits.resize(fibers);
  self.busy.reserve(fibers);
  for (std::size_t i = fibers; i-- > 0;) self.idle.push_back(i);
  for (std::size_t i = 0; i < fibers; ++i) {
    self.fibers.emplace_back([&self, i] { self.live(i); }, stack_bytes);
  }
}

FiberPool::~FiberPool() {
  KW_CHECK_MSG(impl_->busy.empty(), "F3", "a pool ends while its fibers have work");
  impl_->ending = true;
  for (FiberContext& fiber : impl_->fibers) resume(fiber);
}

std::size_t FiberPool::size() const { return impl_->fibers.size(); }
std::size_t FiberPool::busy() const { return impl_->busy.size(); }

std::size_t FiberPool::next() const {
  KW_CHECK(!impl_->idle.empty());
  return impl_->idle.back();
}

void FiberPool::run() {
  KW_CHECK_MSG(current == nullptr, "FiberPool::run", "fibers do not start fibers");
  Impl& self = *impl_;
  const std::size_t fiber = next();
  self.idle.pop_back();
  self.working[fiber] = true;
  self.go_on(fiber);
  if (!self.working[fiber]) return self.idle.push_back(fiber);
  self.waits[fiber].since_ns = steady_ns();
  self.busy.push_back(fiber);
}

void FiberPool::step() {
  Impl& self = *impl_;
  if (self.busy.empty()) return;
  std::uint64_t now = steady_ns();
  std::erase_if(self.busy, [&self, &now](std::size_t fiber) {
    self.waits[fiber].end(now);
    self.go_on(fiber);
    now = self.waits[fiber].since_ns = steady_ns();  // the next fiber has waited until now
    if (self.working[fiber]) return false;
    self.idle.push_back(fiber);
    return true;
  });
}

namespace this_fiber {

bool active() { return current != nullptr; }

NoFiber::NoFiber() : fiber_(std::exchange(current, nullptr)) {}
NoFiber::~NoFiber() { current = fiber_; }

Waited waited() { return current_waits == nullptr ? Waited() : current_waits->total; }

Progress progress() { return made_progress; }

NetworkWait::NetworkWait() : nested_(waits_for(Waits::For::kNetwork)) {
  wait_for(Waits::For::kNetwork);
}
NetworkWait::~NetworkWait() {
  if (nested_) return;
  ++made_progress.network_waits;
  wait_for(Waits::For::kLock);
}

bool yield() {
  if (current == nullptr) return false;
  current->suspend();
  return true;
}

void yield_now() {
  wait_for(Waits::For::kTurn);
  yield();
  ++made_progress.turns;
  wait_for(Waits::For::kLock);
}

void yield_if_due() {
  if (current == nullptr) return;
  const std::uint64_t now = steady_ns();
  if (slice_ends_ns == 0) slice_ends_ns = now + slice_ns;
  if (now >= slice_ends_ns) yield_now();
}

void set_slice_ns(std::uint64_t ns) { slice_ns = ns; }

}  // namespace this_fiber
}  // namespace keyway::fabric
