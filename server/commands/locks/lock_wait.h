// A client's request for a named lock: request, wait, grant, and release when the client goes.
//
// *Thread safety.* As execute.h.
#pragma once

#include <string_view>

#include "keyway/server/commands/engine/call.h"

namespace keyway::server {

struct LockRequest {
  std::string_view name;
  LockMode mode = LockMode::kRead;
  std::uint64_t timeout_ms = 0;
  std::uint64_t lease_ms = 0;
};

/// Answers the call with the lock's token, or with what is in the way; or leaves it to resume().
void begin_lock(const Call& call, const LockRequest& request);

}  // namespace keyway::server
