// with_access(): code that is written once for both access classes.
//
// *Thread safety.* As the endpoint.
#pragma once

#include <cstdint>
#include <utility>

#include "keyway/locks/fabric/endpoint.h"

namespace keyway::fabric {

/// Calls use(cpu) where the agent may use that class on the rank's memory, else use(rma).
template <Endpoint E, class Use>
[[gnu::always_inline]] inline auto with_access(const E& ep, std::uint32_t rank, Use&& use) {
  return ep.is_local(rank) ? use(cpu) : use(rma);
}

}  // namespace keyway::fabric
