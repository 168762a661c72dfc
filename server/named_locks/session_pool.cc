#include "keyway/server/named_locks/session_pool.h"

namespace keyway::server {

Result<SessionPool::Held> SessionPool::take() {
  {
    const MutexLock lock(mutex_);
    if (!free_.empty()) {
      Held held(*this, std::move(free_.back()));
      free_.pop_back();
      return held;
    }
  }
  auto opened = store_.session();
  if (!opened.ok()) return opened.status();
  return Held(*this, std::move(*opened));
}

void SessionPool::release(Session session) {
  const MutexLock lock(mutex_);
  free_.push_back(std::move(session));
}

}  // namespace keyway::server
