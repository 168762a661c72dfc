// Connection: a request that waits.
#include "keyway/locks/base/clock.h"

#include <system_error>
#include "keyway/server/net/connection.h"
#include "keyway/server/net/worker.h"

namespace keyway::server {

/// For what comes behind the request that waits, and for the end of the connection.
void Connection::read_ahead() {
  if (end_ - begin_ < (is_stranger() ? kStrangersRequest : kMaxAhead)) read();
}

/// Until wake(), or until the time at which the request is looked at again.
void Connection::park() {
  if (!alarm_) alarm_ = std::make_unique<asio::steady_timer>(worker_.events());
  const std::uint64_t now = steady_ns();
  const std::uint64_t at = resume_at_ns(client_);
  alarm_->expires_after(std::chrono::nanoseconds(at > now ? at - now : 0));
  alarm_->async_wait([self = shared_from_this()](std::error_code cancelled) {
    if (!cancelled) self->wake();
  });
  read_ahead();
}

void Connection::wake() { take(state_.wake()); }

}  // namespace keyway::server
