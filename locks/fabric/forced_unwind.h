// ForcedUnwind: leaves a stack at the end of its computation, through all destructors.
//
// *Why.* An exception would do the same in two passes, of which the first only looks for the
// handler: an exploration, which is mostly executions that end early, took a fifth longer.
// *Thread safety.* One stack's.
#pragma once

#include <unwind.h>

namespace keyway::fabric {

class ForcedUnwind {
 public:
  /// Up to a handler of abi::__forced_unwind, or of everything, which the bottom of the stack must
  /// have. This object lives elsewhere.
  [[noreturn]] void leave();

 private:
  _Unwind_Exception state_;
};

}  // namespace keyway::fabric
