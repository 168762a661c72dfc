// Fibers: many agents on one thread. An agent that waits switches to a sibling.
//
// *What.* run_fibers() runs n bodies as fibers (Boost.Context) of the calling thread, round robin,
// until all have returned. A FiberPool has fibers that take work as it arrives, from a thread that
// also has other work. this_fiber::yield() is called by waiting (wait.h).
// *Thread safety.* A fiber stays on its thread. Fibers do not start fibers.
// *Invariants.* F1: an exception that leaves a body is rethrown by run_fibers once every other body
// has returned. F2: after some rounds of yields the thread yields too, so that fibers that wait for
// another thread let it run.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "keyway/locks/fabric/fiber_context.h"

namespace keyway::fabric {

/// Runs body(0) .. body(n - 1) as fibers of this thread; returns when all have returned.
void run_fibers(std::size_t n, const std::function<void(std::size_t)>& body,
                std::size_t stack_bytes = kFiberStackBytes);

class FiberPool {
 public:
  /// Does the work that there is for a fiber. The argument is the fiber's number. May not throw.
  using Body = std::function<void(std::size_t fiber)>;

  FiberPool(std::size_t fibers, Body body, std::size_t stack_bytes = kFiberStackBytes);
  /// Requires that no fiber is busy.
  ~FiberPool();
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;

  std::size_t size() const;
  std::size_t busy() const;
  /// The fiber that run() will use, if one is idle.
  std::size_t next() const;
  /// Runs the body once, on next(), until it ends or waits. Does not allocate.
  void run();
  /// Resumes each busy fiber until it ends or waits again.
  void step();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

namespace this_fiber {

/// Whether the caller runs on a fiber.
bool active();
/// Lets the siblings run; false, at once, if the caller is not on a fiber.
bool yield();
/// The same between two parts of long work: the caller is not waiting (fiber_time.h).
void yield_now();

/// While it lives, the caller counts as on no fiber: it is on a stack that the fiber's siblings
/// could not resume.
class NoFiber {
 public:
  NoFiber();
  ~NoFiber();
  NoFiber(const NoFiber&) = delete;
  NoFiber& operator=(const NoFiber&) = delete;

 private:
  FiberContext* fiber_;
};

}  // namespace this_fiber

}  // namespace keyway::fabric
