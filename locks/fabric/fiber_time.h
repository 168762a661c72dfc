// How long fibers have waited, and what for.
//
// *What.* A fiber of a FiberPool gives way while it waits for a lock, or, where it says so, for the
// network. The pool looks at the clock as it leaves such a fiber and as it comes back, so that
// whoever does not wait pays nothing.
// *Thread safety.* The caller's own fiber.
#pragma once

#include <cstdint>

namespace keyway::fabric::this_fiber {

/// In ns, since the fiber's pool was made.
struct Waited {
  std::uint64_t lock_ns = 0;
  std::uint64_t network_ns = 0;

  Waited operator-(const Waited& earlier) const {
    return {lock_ns - earlier.lock_ns, network_ns - earlier.network_ns};
  }
};

/// Of the caller; nothing off a pool's fiber.
Waited waited();

/// How many waits for the network have ended on this thread's fibers: grows while they get on.
std::uint64_t network_waits_ended();

/// While it lives, the caller waits for the network. They do not nest.
class NetworkWait {
 public:
  NetworkWait();
  ~NetworkWait();
  NetworkWait(const NetworkWait&) = delete;
  NetworkWait& operator=(const NetworkWait&) = delete;
};

}  // namespace keyway::fabric::this_fiber
