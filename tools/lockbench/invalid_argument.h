// invalid_argument(): the status of a request that cannot be fulfilled.
//
// *Thread safety.* A function of its argument.
#pragma once

#include <string>
#include <utility>

#include "keyway/locks/base/status.h"

namespace keyway::lockbench {

inline Status invalid_argument(std::string sentence) {
  return Status(Code::kInvalidArgument, std::move(sentence));
}

}  // namespace keyway::lockbench
