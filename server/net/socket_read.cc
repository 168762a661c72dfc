#include "keyway/server/net/socket_read.h"

#include <sys/socket.h>

#include <asio/detail/reactor.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <cerrno>
#include <utility>

#include "keyway/server/net/connection.h"

namespace keyway::server {
namespace {

/// The reactor's data of a socket, which Asio keeps for classes derived from its own.
struct Opened : SocketRead::Socket {
  static asio::detail::reactor::per_descriptor_data& descriptor(SocketRead::Socket& socket) {
    return (socket.*(&Opened::impl_)).get_implementation().reactor_data_;
  }
};

}  // namespace

void SocketRead::start(asio::io_context& events, Socket& socket, void* data, std::size_t room,
                       std::shared_ptr<Connection> owner) {
  socket_ = socket.native_handle();
  data_ = data;
  room_ = room;
  owner_ = std::move(owner);
  ec_ = std::error_code();
  bytes_transferred_ = 0;
  asio::use_service<asio::detail::reactor>(events).start_op(
      asio::detail::reactor::read_op, socket_, Opened::descriptor(socket), this, false, true);
}

/// The reactor calls it when it sees an edge, and at the start after a read that filled its buffer.
SocketRead::status SocketRead::attempt(reactor_op* base) {
  auto* const read = static_cast<SocketRead*>(base);
  ssize_t got = 0;
  do {
    got = ::recv(read->socket_, read->data_, read->room_, 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return not_done;
  if (got < 0) {
    read->ec_ = std::error_code(errno, asio::error::get_system_category());
    return done_and_exhausted;
  }
  if (got == 0) {
    read->ec_ = asio::error::eof;
    return done_and_exhausted;
  }
  read->bytes_transferred_ = static_cast<std::size_t>(got);
  return read->bytes_transferred_ < read->room_ ? done_and_exhausted : done;
}

/// Without a scheduler the event loop is being destroyed, and its operations with it.
void SocketRead::ended(void* scheduler, asio::detail::operation* base, const std::error_code&,
                       std::size_t) {
  auto* const read = static_cast<SocketRead*>(static_cast<reactor_op*>(base));
  const std::shared_ptr<Connection> owner = std::move(read->owner_);
  if (scheduler != nullptr) owner->read_some(read->ec_, read->bytes_transferred_);
}

bool SocketRead::has_more(Socket& socket) {
  char byte = 0;
  const ssize_t seen = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return seen >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

}  // namespace keyway::server
