#include "keyway/locks/fabric/fiber.h"

#include <cxxabi.h>
#include <sched.h>

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <utility>

#include "keyway/locks/base/check.h"
#include "keyway/locks/fabric/sanitizer_fiber.h"

namespace keyway::fabric {
namespace {

namespace ctx = boost::context;

// The exceptions that a stack has caught and those in flight, which the C++ runtime keeps per
// thread. A fiber can be switched out in a handler or while it unwinds (a guard's release may
// wait), so each takes its own along.
class ExceptionState {
 public:
  void exchange_with_thread() {
    void* const globals = abi::__cxa_get_globals();
    const Globals mine = globals_;
    std::memcpy(&globals_, globals, sizeof globals_);
    std::memcpy(globals, &mine, sizeof mine);
  }

 private:
  struct Globals {  // Itanium C++ ABI, section 2.2.2
    void* caught = nullptr;
    unsigned int in_flight = 0;
  };
  Globals globals_;
};

// Rounds are short, and on a busy machine a yield may cost a whole time slice.
constexpr std::uint32_t kRoundsBeforeYield = 16;

// One fiber: its suspended context while others run, and what sanitizers must know of its stack.
struct Fiber {
  ctx::fiber resume;          // the fiber, while the scheduler runs
  ctx::fiber scheduler;       // the scheduler, while the fiber runs
  ExceptionState exceptions;  // the fiber's while the scheduler runs, and the other way round
  SanitizerFiber shadow;
  bool finished = false;
};

class Scheduler {
 public:
  Scheduler(std::size_t n, const std::function<void(std::size_t)>& body, std::size_t stack_bytes);
  void run();
  void yield_current();

 private:
  const std::function<void(std::size_t)>& body_;
  std::deque<Fiber> fibers_;
  Fiber* current_ = nullptr;
  SanitizerFiber thread_shadow_ = SanitizerFiber::of_thread();
  std::exception_ptr failure_;
};

thread_local Scheduler* active_scheduler = nullptr;

Scheduler::Scheduler(std::size_t n, const std::function<void(std::size_t)>& body,
                     std::size_t stack_bytes)
    : body_(body) {
  for (std::size_t i = 0; i < n; ++i) {
    Fiber& fiber = fibers_.emplace_back();
    auto allocator = ctx::protected_fixedsize_stack(stack_bytes);
    auto stack = allocator.allocate();
    fiber.shadow = SanitizerFiber::create(static_cast<char*>(stack.sp) - stack.size, stack.size);
    fiber.shadow.running();  // making a context enters its stack for a moment
    fiber.resume = ctx::fiber(std::allocator_arg, ctx::preallocated(stack.sp, stack.size, stack),
                              allocator, [this, &fiber, i](ctx::fiber&& from) {
                                fiber.shadow.arrived();
                                fiber.scheduler = std::move(from);
                                try {
                                  body_(i);
                                } catch (const ctx::detail::forced_unwind&) {
                                  throw;
                                } catch (...) {
                                  if (!failure_) failure_ = std::current_exception();
                                }
                                fiber.finished = true;
                                fiber.shadow.leave_for(thread_shadow_, /*for_ever=*/true);
                                return std::move(fiber.scheduler);
                              });
    thread_shadow_.running();
  }
}

void Scheduler::run() {
  KW_CHECK_MSG(active_scheduler == nullptr, "run_fibers", "fiber groups do not nest");
  active_scheduler = this;
  std::uint32_t rounds = 0;
  for (std::size_t left = fibers_.size(); left > 0;) {
    for (Fiber& fiber : fibers_) {
      if (fiber.finished) continue;
      current_ = &fiber;
      fiber.exceptions.exchange_with_thread();
      fiber.shadow.running();
      thread_shadow_.leave_for(fiber.shadow, /*for_ever=*/false);
      fiber.resume = std::move(fiber.resume).resume();
      thread_shadow_.arrived();
      thread_shadow_.running();
      fiber.exceptions.exchange_with_thread();
      current_ = nullptr;
      if (fiber.finished) {
        fiber.shadow.destroy();
        --left;
      }
    }
    if (left > 0 && ++rounds % kRoundsBeforeYield == 0) sched_yield();
  }
  active_scheduler = nullptr;
  if (failure_) std::rethrow_exception(failure_);
}

void Scheduler::yield_current() {
  Fiber& fiber = *current_;
  fiber.shadow.leave_for(thread_shadow_, /*for_ever=*/false);
  fiber.scheduler = std::move(fiber.scheduler).resume();
  fiber.shadow.arrived();
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
