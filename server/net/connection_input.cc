// Connection: input from the client.
#include <algorithm>
#include <asio/buffer.hpp>
#include <new>
#include <system_error>

#include "keyway/locks/base/check.h"
#include "keyway/locks/base/clear_and_shrink.h"
#include "keyway/server/net/connection.h"
#include "keyway/server/net/tls.h"
#include "keyway/server/net/worker.h"

namespace keyway::server {

/// Room for what the unfinished request needs, but never for more than has already come: memory
/// grows with what is sent, not with what is announced.
std::size_t Connection::make_room() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    if (in_.capacity() > kKept) clear_and_shrink(in_, 0);
  }
  const std::size_t held = end_ - begin_;
  // A client that sends a few bytes at a time does not need a larger buffer after each of them.
  const std::size_t least = held == 0 ? wanted_ : wanted_ / 2;
  if (begin_ != 0 && in_.size() - end_ < least) {
    in_.erase(0, begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (in_.size() - end_ < least) {
    const std::size_t most = std::max(wanted_, held);
    in_.resize(end_ + std::clamp<std::size_t>(parser_.missing(), wanted_, most));
  }
  return in_.size() - end_;
}

void Connection::read() {
  if (state_.reading()) return;  // begun while it was parked
  std::uint64_t most = worker_.service().settings.query_bytes;
  if (is_stranger()) most = std::min<std::uint64_t>(most, kStrangersRequest);
  if (end_ - begin_ >= most) return close();
  std::size_t room = 0;
  try {
    room = make_room();
  } catch (const std::bad_alloc&) {  // C5
    return close();
  }
  state_.begin_read();
  if (tls_) {
    tls_->stream.async_read_some(
        asio::buffer(in_.data() + end_, room),
        [self = shared_from_this()](std::error_code error, std::size_t bytes) {
          self->read_some(error, bytes);
        });
  } else {
    if (end_seen_ == End::kLookWhenReading) look_again_soon();
    read_.start(worker_.events(), socket_, in_.data() + end_, room, shared_from_this());
  }
}

void Connection::look_again_soon() {
  if (end_seen_ != End::kLookSoon) worker_.look_again_soon(weak_from_this());
  end_seen_ = End::kLookSoon;
}

/// Only after a pause: a client that continues to send is not checked.
void Connection::look_again(std::uint64_t now_ns) {
  end_seen_ = End::kNotThere;
  if (!state_.is_open()) return;
  const bool sends = now_ns < client_.came_ns + Worker::kLookAgainNs;
  if (sends || (state_.reading() && state_.writing())) {
    look_again_soon();
  } else if (!state_.reading()) {
    end_seen_ = End::kLookWhenReading;
  } else if (SocketRead::has_more(socket_)) {
    // A wait for room registers the socket with the reactor again, and so the read.
    socket_.async_wait(Socket::wait_write, [self = shared_from_this()](std::error_code) {});
  }
}

void Connection::read_some(std::error_code error, std::size_t bytes) {
  end_ += bytes;
  client_.statistics->bytes_in.add(bytes);
  if (bytes != 0) client_.statistics->reads.add(1);
  // A client that fills the buffer will do so again; most idle ones never do.
  if (end_ == in_.size()) {
    wanted_ = std::min(2 * wanted_, kMaxWanted);
  } else if (!tls_ && !error) {
    look_again_soon();
  }
  const auto how = !error                                    ? ConnectionState::Read::kBytes
                   : error == asio::error::eof               ? ConnectionState::Read::kEnd
                   : error == asio::error::operation_aborted ? ConnectionState::Read::kCancelled
                                                             : ConnectionState::Read::kFailed;
  // Bytes that the kernel still has after a cancelled read are the last to be read.
  const bool more = how == ConnectionState::Read::kCancelled && more_has_come();
  take(state_.read_ended(how, more));
}

bool Connection::more_has_come() const {
  std::error_code none;
  const std::size_t waiting = socket_.available(none);
  return !none && waiting != 0;
}

/// Bytes that have arrived and have not been read, without waiting for more.
void Connection::read_the_rest() {
  if (!tls_ && !state_.reading()) return more_has_come() ? read() : close();
  read();  // the length of the layer's bytes is unknown
  cancel_read();
}

/// Never beside a write: it would be cancelled, too, and TLS would have lost a part of it.
void Connection::cancel_read() {
  KW_DCHECK(!state_.writing());
  std::error_code gone;  // it may have been closed a moment ago
  socket_.cancel(gone);
}

}  // namespace keyway::server
