// Pause: CLIENT PAUSE, which delays the requests of all clients, or only the writing ones.
//
// *What.* A delayed request has not begun: its connection waits, without a fiber, and checks again
// when it is woken or the pause ends.
// *Thread safety.* Any thread. Without a pause the cost is one load.
// *Invariants.* P1: lift() wakes every client that began to wait, unless it has been forgotten.
// *Source.* Redis 7.0.15, networking.c (pauseClients): of two pauses the stricter and the longer.
#pragma once

#include <atomic>
#include <cstdint>
#include <unordered_map>

#include "keyway/locks/base/mutex.h"
#include "keyway/server/named_locks/lock_service.h"

namespace keyway::server {

class Pause {
 public:
  enum class Kind : std::uint8_t { kNone, kWrites, kAll };

  /// By the steady clock.
  void begin(Kind kind, std::uint64_t until_ns);
  /// Ends it, and wakes waiting clients.
  void lift();
  /// As lift(), for good: the server ends.
  void end();

  /// The commands that are paused now.
  Kind kind() const {
    // relaxed: a hint; must_wait() checks again.
    return kind_.load(std::memory_order_relaxed);
  }
  /// Whether a client's request must still wait, and until when; then it will be woken.
  bool must_wait(bool writes, std::uint64_t client, Waker& waker, std::uint64_t& until_ns);
  void forget(std::uint64_t client);

 private:
  void lift_held() KW_REQUIRES(mutex_);

  Mutex mutex_;
  std::atomic<Kind> kind_{Kind::kNone};  // written under the mutex
  std::uint64_t until_ns_ KW_GUARDED_BY(mutex_) = 0;
  bool ended_ KW_GUARDED_BY(mutex_) = false;
  std::unordered_map<std::uint64_t, Waker*> waiting_ KW_GUARDED_BY(mutex_);
};

}  // namespace keyway::server
