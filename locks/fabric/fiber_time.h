// How long fibers have waited, and for which cause.
//
// *What.* A fiber of a FiberPool yields while it waits for a lock, or, inside a NetworkWait, for
// the network. The pool reads the clock when it leaves such a fiber and when it resumes it, so a
// fiber that does not wait pays nothing.
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

/// For the calling fiber; zero outside a pool's fibers.
[[gnu::hot]] Waited waited();

/// How often this thread's fibers have made progress.
struct Progress {
  std::uint64_t turns = 0;          // given to siblings in the middle of work
  std::uint64_t network_waits = 0;  // that have ended
};
Progress progress();

/// While it lives, the caller waits for the network. One inside another changes nothing.
class NetworkWait {
 public:
  NetworkWait();
  ~NetworkWait();
  NetworkWait(const NetworkWait&) = delete;
  NetworkWait& operator=(const NetworkWait&) = delete;

 private:
  bool nested_;
};

}  // namespace keyway::fabric::this_fiber
