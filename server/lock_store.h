// The store of the named locks, and the looks at what other ranks have done to this rank's clients.
//
// *Thread safety.* LockMail belongs to the thread that runs its events.
#pragma once

#include <asio/steady_timer.hpp>
#include <chrono>

#include "keyway/client/client.h"
#include "keyway/server/named_locks/lock_service.h"
#include "options.h"

namespace keyway::server {

/// A store of their own: no command on keys meets them, and no key takes their room. Collective in
/// a job of several ranks.
Result<Store> open_lock_store(const Options& options);

/// Wakes clients of this rank whom other ranks have let in: looks often while any of them waits, so
/// that a grant is told soon, and now and then while none does.
class LockMail {
 public:
  LockMail(asio::io_context& events, LockService& locks) : locks_(locks), timer_(events) {}

  void start();
  void stop();

 private:
  static constexpr std::chrono::milliseconds kWhileSomeWait{2};
  static constexpr std::chrono::milliseconds kWhileNoneWaits{20};

  LockService& locks_;
  asio::steady_timer timer_;
  bool stopped_ = false;
};

}  // namespace keyway::server
