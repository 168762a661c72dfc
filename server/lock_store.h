// The store of the named locks, and the polls for messages of other ranks to this rank's clients.
//
// *Thread safety.* Functions of their arguments.
#pragma once

#include <chrono>

#include "keyway/client/client.h"
#include "keyway/server/named_locks/lock_service.h"
#include "options.h"

namespace keyway::server {

/// A store of their own: no command on keys meets them, and no key takes their room. Collective in
/// a job of several ranks.
Result<Store> open_lock_store(const Options& options);

/// Wakes clients of this rank that other ranks have granted. Returns the pause until the next poll:
/// short while any of them waits, so that a grant is reported soon.
std::chrono::milliseconds poll_mailbox(LockService& locks);

}  // namespace keyway::server
