// Notifies AddressSanitizer and ThreadSanitizer when a thread changes stacks. Without sanitizers
// every member is empty.
//
// Both sides of a switch notify AddressSanitizer: leave_for() before, arrived() after.
// ThreadSanitizer keeps its own call stack per fiber; every instrumented function adds to it on
// entry and removes from it on exit. Only the scheduler notifies it, before and after it resumes a
// fiber: then each function leaves the stack that it entered, also the functions of a fiber that
// ends.
#pragma once

#include <cstddef>

#include "keyway/locks/base/sanitizers.h"

#if defined(KW_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(KW_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace keyway::fabric {

/// The shadow of one stack. Moves are copies of handles; not thread-safe.
class SanitizerFiber {
 public:
  SanitizerFiber() = default;

  /// The shadow of a fresh fiber stack.
  static SanitizerFiber create([[maybe_unused]] const void* bottom,
                               [[maybe_unused]] std::size_t bytes) {
    SanitizerFiber made;
#if defined(KW_ASAN)
    made.bottom_ = bottom;
    made.bytes_ = bytes;
#endif
#if defined(KW_TSAN)
    made.tsan_ = __tsan_create_fiber(0);
#endif
    return made;
  }
  /// The shadow of the calling thread's own stack.
  static SanitizerFiber of_thread() {
    SanitizerFiber made;
#if defined(KW_TSAN)
    made.tsan_ = __tsan_get_current_fiber();
#endif
    return made;
  }

  /// AddressSanitizer: call on the old stack, just before the switch to `next`.
  void leave_for([[maybe_unused]] SanitizerFiber& next, [[maybe_unused]] bool for_ever) {
#if defined(KW_ASAN)
    __sanitizer_start_switch_fiber(for_ever ? nullptr : &fake_stack_, next.bottom_, next.bytes_);
    next.came_from_ = this;
#endif
  }
  /// AddressSanitizer: call on the new stack, just after the switch.
  void arrived() {
#if defined(KW_ASAN)
    // The thread's own stack bounds become known the first time that we leave it.
    __sanitizer_finish_switch_fiber(fake_stack_, &came_from_->bottom_, &came_from_->bytes_);
#endif
  }
  /// ThreadSanitizer: from here on the calling thread runs this stack. Inlined always: its own
  /// entry and exit would lie on different stacks.
  [[gnu::always_inline]] void running() {
#if defined(KW_TSAN)
    __tsan_switch_to_fiber(tsan_, 0);
#endif
  }
  /// Call once the stack is gone.
  void destroy() {
#if defined(KW_ASAN)
    // The marks of the last frames outlive the mapping: the next one at this place must not find
    // them.
    __asan_unpoison_memory_region(bottom_, bytes_);
#endif
#if defined(KW_TSAN)
    __tsan_destroy_fiber(tsan_);
#endif
  }

 private:
#if defined(KW_ASAN)
  void* fake_stack_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  SanitizerFiber* came_from_ = nullptr;
#endif
#if defined(KW_TSAN)
  void* tsan_ = nullptr;
#endif
};

}  // namespace keyway::fabric
