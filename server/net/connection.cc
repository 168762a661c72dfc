#include "keyway/server/net/connection.h"

#include <algorithm>
#include <asio/buffer.hpp>
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

void Connection::execute(Session& session) {
  resp::ReplyWriter writer(out_, client_.version);
  more_to_execute_ = false;
  while (!client_.closing) {
    const auto step = parser_.parse(std::string_view(in_).substr(begin_, end_ - begin_), limits());
    if (step == resp::RequestParser::Step::kRequest) {
      server::execute(client_, session, worker_.service(), parser_.words(), writer);
    } else if (step == resp::RequestParser::Step::kError) {
      writer.error("ERR " + parser_.error());
      client_.closing = true;
    }
    begin_ += parser_.consumed();
    if (step != resp::RequestParser::Step::kRequest) return;
    if (out_.size() >= kMuchToWrite) {
      more_to_execute_ = true;
      return;
    }
  }
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

void Connection::write() {
  asio::async_write(socket_, asio::buffer(out_),
                    [self = shared_from_this()](std::error_code error, std::size_t) {
                      give_back(self->out_, kKept);
                      if (error) return self->close();
                      if (self->more_to_execute_) return self->worker_.execute(self);
                      self->executed();
                    });
}

void Connection::close() {
  std::error_code ignored;  // the other side may have gone first
  socket_.shutdown(Socket::shutdown_both, ignored);
  socket_.close(ignored);
}

}  // namespace keyway::server
