#include "keyway/server/net/connection.h"

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/post.hpp>
#include <asio/write.hpp>
#include <utility>

#include "keyway/locks/base/clock.h"
#include "keyway/server/net/address.h"
#include "keyway/server/net/worker.h"

namespace keyway::server {
namespace {

void give_back(std::string& buffer, std::size_t kept) {
  if (buffer.capacity() > kept) buffer = std::string();
  buffer.clear();
}

}  // namespace

Connection::Connection(Worker& worker, Socket socket, std::uint64_t id)
    : worker_(worker), socket_(std::move(socket)) {
  client_.id = id;
  std::error_code gone;  // before it was taken: then there is nothing to read either
  client_.address = text_of(socket_.remote_endpoint(gone));
  client_.descriptor = socket_.native_handle();
  client_.since_ms = wall_ms();
  client_.local_address = text_of(socket_.local_endpoint(gone));
  client_.authenticated = worker.service().password.empty();
  socket_.non_blocking(true, gone);
  worker_.joined(*this);
}

Connection::~Connection() { worker_.left(*this); }

void Connection::start() { executed(); }

void Connection::drain() {
  draining_ = true;
  // What has come is read once more: it is complete by the cancelled read.
  if (reading_) socket_.cancel();
}

resp::RequestLimits Connection::limits() const {
  resp::RequestLimits limits = worker_.limits();
  limits.trusted = client_.authenticated;
  return limits;
}

void Connection::read() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    if (in_.capacity() > kKept) give_back(in_, kKept);
  }
  // As much as the request that is under way needs, but never more than has already come: memory
  // grows with what is sent, not with what is announced.
  const std::size_t held = end_ - begin_;
  const std::size_t room = std::clamp<std::size_t>(
      std::max<std::size_t>(parser_.missing(), kLeastRead), kLeastRead, std::max(kMostRead, held));
  if (begin_ != 0 && in_.size() - end_ < room) {
    in_.erase(0, begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (in_.size() - end_ < room) in_.resize(end_ + room);
  reading_ = true;
  socket_.async_read_some(asio::buffer(in_.data() + end_, in_.size() - end_),
                          [self = shared_from_this()](std::error_code error, std::size_t bytes) {
                            self->read_some(error, bytes);
                          });
}

void Connection::read_some(std::error_code error, std::size_t bytes) {
  reading_ = false;
  end_ += bytes;
  if (error && draining_) {
    // Cancelled: what the kernel still has is the last that is read.
    std::error_code none;
    const std::size_t waiting = socket_.available(none);
    if (none || waiting == 0) return close();
    return read();
  }
  if (error) return close();
  worker_.execute(shared_from_this());
}

void Connection::execute(Session& session, Batch& batch) {
  more_to_execute_ = false;
  while (!client_.closing && !more_to_execute_) {
    const auto step = parse(batch);
    batch.prefetch(session);
    const bool all = execute_batch(session, batch);
    if (!all || step == resp::RequestParser::Step::kRequest) continue;
    if (step == resp::RequestParser::Step::kError) {
      resp::ReplyWriter(out_, client_.version).error("ERR " + parser_.error());
      client_.closing = true;
    }
    return;
  }
}

/// Fills the batch with requests that are complete. kRequest: there may be more.
resp::RequestParser::Step Connection::parse(Batch& batch) {
  batch.clear();
  std::size_t at = begin_;
  while (true) {
    const auto step = parser_.parse(std::string_view(in_).substr(at, end_ - at), limits());
    at += parser_.consumed();
    parsed_ = at;
    if (step != resp::RequestParser::Step::kRequest) return step;
    const bool room = batch.add(parser_.words(), at);
    if (!room || !parser_.in_place() || !client_.authenticated) return step;
  }
}

/// False when it has stopped before the end: then what it has not come to is parsed again, later.
bool Connection::execute_batch(Session& session, const Batch& batch) {
  resp::ReplyWriter writer(out_, client_.version);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Batch::Request request = batch[i];
    server::execute(client_, session, worker_.service(), request.command, request.words, writer);
    more_to_execute_ = out_.size() >= kMuchToWrite;
    if (!more_to_execute_ && !client_.closing) continue;
    begin_ = request.end;
    parser_.rewind();
    return false;
  }
  begin_ = parsed_;
  return true;
}

void Connection::executed() {
  if (!out_.empty()) return write();
  if (client_.closing) return close();
  if (draining_) {
    std::error_code none;
    const std::size_t waiting = socket_.available(none);
    if (none || waiting == 0) return close();
  }
  read();
}

/// Nearly always the kernel takes all at once, and no event loop is needed for that.
void Connection::write() {
  std::error_code error;
  const std::size_t taken = socket_.send(asio::buffer(out_), 0, error);
  if (error == asio::error::would_block) error.clear();
  if (error || taken == out_.size()) return written(error);
  asio::async_write(
      socket_, asio::buffer(out_) + taken,
      [self = shared_from_this()](std::error_code failed, std::size_t) { self->written(failed); });
}

void Connection::written(std::error_code error) {
  give_back(out_, kKept);
  if (error) return close();
  if (!more_to_execute_) return executed();
  // Others first: this client may have sent a million requests.
  asio::post(worker_.events(), [self = shared_from_this()] { self->worker_.execute(self); });
}

void Connection::close() {
  std::error_code ignored;  // the other side may have gone first
  socket_.shutdown(Socket::shutdown_both, ignored);
  socket_.close(ignored);
}

}  // namespace keyway::server
