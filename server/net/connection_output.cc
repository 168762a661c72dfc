// Connection: replies, from what a batch has made to what the client has taken.
#include <algorithm>
#include <asio/buffer.hpp>
#include <new>
#include <system_error>

#include "keyway/locks/base/clear_and_shrink.h"
#include "keyway/server/net/connection.h"
#include "keyway/server/net/process_memory.h"
#include "keyway/server/net/tls.h"
#include "keyway/server/net/worker.h"

namespace keyway::server {

/// Nearly always the kernel takes all at once, and no event loop is needed for that. False: the
/// connection is closed.
bool Connection::send() {
  if (out_.empty()) {
    if (reported_ != 0) report_output();
    return true;
  }
  std::size_t sent = 0;
  if (!tls_ && !state_.writing()) {
    std::error_code error;
    sent = socket_.send(asio::buffer(out_), 0, error);
    client_.statistics->bytes_out.add(sent);
    if (sent != 0) client_.statistics->writes.add(1);
    if (error && error != asio::error::would_block) {
      close();
      return false;
    }
    if (sent == out_.size()) {
      clear_and_shrink(out_, kKept);
      if (reported_ != 0) report_output();  // it was a long reply
      return true;
    }
  }
  try {
    queue_made(sent);
  } catch (const std::bad_alloc&) {  // C5
    close();
    return false;
  }
  report_output();
  return true;
}

/// Replies that wait behind others wait in large pieces, so that their memory returns to the
/// kernel.
void Connection::queue_made(std::size_t sent) {
  if (!state_.writing()) {
    queue_.push(out_, sent);
    taken_s_ = worker_.now_s();
    return write_front();
  }
  if (out_.size() < kLargeBytes) return;
  queue_.push(out_);
  out_.reserve(kLargeBytes + kOutputHighWater);
}

void Connection::write_front() {
  state_.begin_write();
  const auto rest = asio::buffer(queue_.front());
  auto taken = [self = shared_from_this()](std::error_code error, std::size_t bytes) {
    self->taken(error, bytes);
  };
  if (tls_) {
    tls_->stream.async_write_some(rest, std::move(taken));
  } else {
    socket_.async_write_some(rest, std::move(taken));
  }
}

void Connection::taken(std::error_code error, std::size_t bytes) {
  client_.statistics->bytes_out.add(bytes);
  if (bytes != 0) client_.statistics->writes.add(1);
  queue_.taken(bytes, kKept);
  if (!state_.write_ended()) return;
  if (error) return close();
  taken_s_ = worker_.now_s();
  // C1: the output of a running fiber may end in half a reply.
  if (queue_.empty() && !state_.on_fiber() && !out_.empty()) queue_.push(out_);
  if (!queue_.empty()) write_front();
  report_output();
  take(state_.after_write(may_make_more()));
}

/// C8.
bool Connection::may_make_more() const {
  if (queue_.empty()) return true;
  if (is_stranger()) return false;
  const std::size_t kept = queue_.bytes() + out_.size();
  return kept <= kOutputHighWater || worker_.output().has_room(kept);
}

void Connection::report_output() {
  const std::size_t kept = queue_.empty() ? 0 : queue_.bytes() + out_.size();
  // The reply being made has claimed its memory.
  const std::size_t claimed = state_.on_fiber() && allowed_ != 0 ? queue_.bytes() + allowed_ : kept;
  const std::size_t beyond = claimed > kOutputHighWater ? claimed - kOutputHighWater : 0;
  if (beyond != reported_) worker_.output().report(reported_, beyond);
  reported_ = beyond;
  // relaxed: figures by themselves.
  client_.info->waiting_bytes.store(kept, std::memory_order_relaxed);
  client_.info->waiting_pieces.store(queue_.pieces(), std::memory_order_relaxed);
}

/// For what is executed now: C8 and C9.
resp::ReplyWriter Connection::writer() {
  const std::size_t allowed = std::min(most(), std::max(made_before_ + kFreeToMake, allowed_));
  return resp::ReplyWriter(out_, client_.version, *this, allowed);
}

/// The maximum size of out_, beside the waiting replies: one client's limit, and all that
/// OutputMemory could grant.
std::size_t Connection::most() const {
  const std::uint64_t limit = worker_.service().settings.output_bytes;
  std::uint64_t most = worker_.output().limit() + kOutputHighWater + kFreeToMake;
  if (limit != 0) most = std::min(most, limit);
  if (is_stranger()) most = std::min<std::uint64_t>(most, kStrangersReplies);
  return most - std::min<std::uint64_t>(most, queue_.bytes());
}

/// Without a claim as far as one execution may go, then as much as the memory of all has left.
std::size_t Connection::allow(std::size_t needed) {
  const std::size_t most = this->most();
  if (needed > most) return 0;
  const std::size_t free = made_before_ + kFreeToMake;
  if (needed <= free) return std::min(free, most);
  // Many elements at once, and what is needed where there is no room for as many.
  for (const std::size_t size : {std::min(needed + kClaimed, most), needed}) {
    const std::size_t beyond = queue_.bytes() + size - kOutputHighWater;
    if (beyond > reported_ && !worker_.output().claim(reported_, beyond)) continue;
    reported_ = std::max(reported_, beyond);
    return allowed_ = size;
  }
  return 0;
}

}  // namespace keyway::server
