#include "keyway/locks/fabric/fiber_context.h"

#include <cxxabi.h>

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstring>
#include <utility>

#include "keyway/locks/base/check.h"
#include "keyway/locks/fabric/sanitizer_fiber.h"

namespace keyway::fabric {
namespace {

namespace ctx = boost::context;

// The exceptions that a stack has caught and those in flight, which the C++ runtime keeps per
// thread. A fiber can be switched out in a handler or while it unwinds (a guard's release may
// wait), so each fiber keeps its own.
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

}  // namespace

struct FiberContext::Impl {
  std::function<void()> body;
  ctx::fiber fiber;           // the fiber, while the scheduler runs
  ctx::fiber scheduler;       // the scheduler, while the fiber runs
  ExceptionState exceptions;  // the fiber's while the scheduler runs, and vice versa
  SanitizerFiber shadow;
  SanitizerFiber thread_shadow = SanitizerFiber::of_thread();
  std::exception_ptr failure;
  bool finished = false;

  // Not inlined into its caller: ThreadSanitizer must see entry and exit on the same stack.
  void switch_to_fiber() {
    exceptions.exchange_with_thread();
    thread_shadow = SanitizerFiber::of_thread();  // not always the thread that made the fiber
    shadow.running();
    thread_shadow.leave_for(shadow, /*for_ever=*/false);
    fiber = std::move(fiber).resume();
    thread_shadow.arrived();
    thread_shadow.running();
    exceptions.exchange_with_thread();
    if (finished) shadow.destroy();
  }
};

FiberContext::FiberContext(std::function<void()> body, std::size_t stack_bytes)
    : impl_(std::make_unique<Impl>()) {
  Impl& self = *impl_;
  self.body = std::move(body);
  auto allocator = ctx::protected_fixedsize_stack(stack_bytes);
  auto stack = allocator.allocate();
  self.shadow = SanitizerFiber::create(static_cast<char*>(stack.sp) - stack.size, stack.size);
  self.shadow.running();  // making a context enters its stack for a moment
  self.fiber = ctx::fiber(std::allocator_arg, ctx::preallocated(stack.sp, stack.size, stack),
                          allocator, [&self](ctx::fiber&& from) {
                            self.shadow.arrived();
                            self.scheduler = std::move(from);
                            try {
                              self.body();
                            } catch (const ctx::detail::forced_unwind&) {
                              throw;
                            } catch (...) {
                              self.failure = std::current_exception();
                            }
                            self.finished = true;
                            self.shadow.leave_for(self.thread_shadow, /*for_ever=*/true);
                            return std::move(self.scheduler);
                          });
  self.thread_shadow.running();
}

FiberContext::~FiberContext() { KW_CHECK_MSG(impl_->finished, "F3", "a fiber ends too early"); }

void FiberContext::resume() {
  KW_DCHECK(!impl_->finished);
  impl_->switch_to_fiber();
}

void FiberContext::suspend() {
  Impl& self = *impl_;
  self.shadow.leave_for(self.thread_shadow, /*for_ever=*/false);
  self.scheduler = std::move(self.scheduler).resume();
  self.shadow.arrived();
}

bool FiberContext::finished() const { return impl_->finished; }
std::exception_ptr FiberContext::failure() const { return impl_->failure; }

}  // namespace keyway::fabric
