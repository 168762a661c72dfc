// SessionPool: sessions of a store that are taken for one operation each.
//
// *What.* The session that was returned last is taken first, so that usually few are in use: each
// keeps leases of the heap. More are opened on demand.
// *Thread safety.* Any thread or fiber may take a session; it owns it until it returns it.
// *Invariants.* O1: one thread at a time uses a session; the mutex makes its effects visible to the
// next.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "keyway/client/client.h"
#include "keyway/locks/base/mutex.h"

namespace keyway::server {

class SessionPool {
 public:
  /// A session until the end of its scope.
  class Held {
   public:
    Held(SessionPool& pool, Session session) : pool_(&pool), session_(std::move(session)) {}
    Held(Held&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), session_(std::move(other.session_)) {}
    Held& operator=(Held&&) = delete;
    ~Held() {
      if (pool_ != nullptr) pool_->release(std::move(session_));
    }
    Session* operator->() { return &session_; }
    Session& operator*() { return session_; }

   private:
    SessionPool* pool_;
    Session session_;
  };

  /// The store outlives the pool.
  explicit SessionPool(Store& store) : store_(store) {}
  /// kUnavailable when as many are in use as the store has.
  Result<Held> take();

 private:
  void release(Session session);

  Store& store_;
  Mutex mutex_;
  std::vector<Session> free_ KW_GUARDED_BY(mutex_);
};

}  // namespace keyway::server
