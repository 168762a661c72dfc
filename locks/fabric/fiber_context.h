// FiberContext: one suspended computation with its own stack (Boost.Context).
//
// *What.* resume() runs the body until it suspends or returns. The caller schedules: fiber.h goes
// round robin, the simulated machine by its events.
// *Thread safety.* Belongs to one thread.
// *Invariants.* F3: a fiber is not destroyed before its body has returned (checked), so that
// nothing on its stack outlives it.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>

namespace keyway::fabric {

inline constexpr std::size_t kFiberStackBytes = 256 * 1024;

class FiberContext {
 public:
  FiberContext(std::function<void()> body, std::size_t stack_bytes = kFiberStackBytes);
  ~FiberContext();
  FiberContext(const FiberContext&) = delete;
  FiberContext& operator=(const FiberContext&) = delete;

  /// From the scheduler's stack: runs the fiber until it suspends or its body has returned.
  void resume();
  /// From the fiber itself: returns to the scheduler.
  void suspend();
  bool finished() const;
  /// The exception that left the body, if any.
  std::exception_ptr failure() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace keyway::fabric
