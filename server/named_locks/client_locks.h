// ClientLocks: the state that a connection keeps about its named locks.
//
// *Thread safety.* One connection's.
// *Invariants.* E3 of execute.h: held is bounded by LockLimits::held.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "keyway/server/named_locks/lock_service.h"

namespace keyway::server {

/// A request for a lock that is to be answered later.
struct LockWait {
  std::string name;
  LockMode mode = LockMode::kRead;
  std::uint64_t lease_ms = 0;
  std::uint64_t until_ns = 0;  // steady clock: its timeout
  std::uint64_t look_ns = 0;   // steady clock: when to check at the latest, without being woken
};

/// A lock that was granted and not unlocked by this connection. Its lease may have ended, or may
/// have been renewed by another connection.
struct HeldLock {
  std::string name;
  std::uint64_t token = 0;
  std::uint64_t lease_ms = 0;
  std::uint64_t until_ms = 0;  // wall clock, as far as this connection knows
};

struct ClientLocks {
  Waker* waker = nullptr;  // null: this client is answered at once
  std::optional<LockWait> wait;
  std::vector<HeldLock> held;
};

}  // namespace keyway::server
