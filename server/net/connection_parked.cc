// Connection: what happens while a request waits for something.
#include "keyway/locks/base/clock.h"

#include <system_error>
#include "keyway/server/net/connection.h"
#include "keyway/server/net/worker.h"

namespace keyway::server {

void Connection::park() {
  enter(State::kParked);
  client_.statistics->connections_parked.add(1);
  if (woken_ || draining_) return resume();
  await_resume();
  read_ahead({});
}

/// For what comes behind the request that waits, and for the end of the connection. Who has ended
/// its half of it may still take replies: then it is looked at again.
void Connection::read_ahead(std::error_code error) {
  if (error == asio::error::eof && writing_) return;
  if (error) return close();
  if (end_ - begin_ < (is_stranger() ? kStrangersRequest : kMaxAhead)) read();
}

void Connection::await_resume() {
  if (!alarm_) alarm_ = std::make_unique<asio::steady_timer>(worker_.events());
  const std::uint64_t now = steady_ns();
  const std::uint64_t at = resume_at_ns(client_);
  alarm_->expires_after(std::chrono::nanoseconds(at > now ? at - now : 0));
  alarm_->async_wait([self = shared_from_this()](std::error_code cancelled) {
    if (!cancelled) self->wake();
  });
}

void Connection::wake() {
  woken_ = true;
  if (state_ == State::kParked) resume();
}

/// A read that is under way may end meanwhile (C1).
void Connection::resume() {
  if (alarm_) alarm_->cancel();
  step();
}

}  // namespace keyway::server
