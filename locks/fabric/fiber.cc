#include "keyway/locks/fabric/fiber.h"

#include <sched.h>

#include <deque>
#include <exception>

#include "keyway/locks/base/check.h"

namespace keyway::fabric {
namespace {

// Rounds are short, and on a busy machine a yield may cost a whole time slice.
constexpr std::uint32_t kRoundsBeforeYield = 16;

class Scheduler {
 public:
  Scheduler(std::size_t n, const std::function<void(std::size_t)>& body, std::size_t stack_bytes) {
    for (std::size_t i = 0; i < n; ++i) fibers_.emplace_back([&body, i] { body(i); }, stack_bytes);
  }
  void run();
  void yield_current() { current_->suspend(); }

 private:
  std::deque<FiberContext> fibers_;
  FiberContext* current_ = nullptr;
};

thread_local Scheduler* active_scheduler = nullptr;

void Scheduler::run() {
  KW_CHECK_MSG(active_scheduler == nullptr, "run_fibers", "fiber groups do not nest");
  active_scheduler = this;
  std::uint32_t rounds = 0;
  for (std::size_t left = fibers_.size(); left > 0;) {
    for (FiberContext& fiber : fibers_) {
      if (fiber.finished()) continue;
      current_ = &fiber;
      fiber.resume();
      current_ = nullptr;
      if (fiber.finished()) --left;
    }
    if (left > 0 && ++rounds % kRoundsBeforeYield == 0) sched_yield();
  }
  active_scheduler = nullptr;
  for (const FiberContext& fiber : fibers_) {
    if (fiber.failure()) std::rethrow_exception(fiber.failure());
  }
}

}  // namespace

void run_fibers(std::size_t n, const std::function<void(std::size_t)>& body,
                std::size_t stack_bytes) {
  Scheduler(n, body, stack_bytes).run();
}

namespace this_fiber {

bool active() { return active_scheduler != nullptr; }

bool yield() {
  if (active_scheduler == nullptr) return false;
  active_scheduler->yield_current();
  return true;
}

}  // namespace this_fiber
}  // namespace keyway::fabric
