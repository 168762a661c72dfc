#include "keyway/locks/fabric/forced_unwind.h"

#include "keyway/locks/base/check.h"

namespace keyway::fabric {

void ForcedUnwind::leave() {
  const auto go_on = [](int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception*,
                        _Unwind_Context*, void*) {
    KW_CHECK((actions & _UA_END_OF_STACK) == 0);
    return _URC_NO_REASON;
  };
  state_ = {};
  _Unwind_ForcedUnwind(&state_, go_on, nullptr);
  check_failed(__FILE__, __LINE__, "leave()", "it returned");
}

}  // namespace keyway::fabric
