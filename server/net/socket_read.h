// SocketRead: reads of a plain socket, without useless system calls.
//
// *What.* asio::async_read_some() tries recv() before it waits, although a client that waits for
// its reply has sent nothing more: one system call more per request. A read here does the same only
// after a read that filled its buffer. The reactor watches sockets by edges, so no edge is lost:
// bytes that come after a short read wake the next one. If a client ends together with its last
// bytes, there is no separate edge, so the worker checks for it a little later
// (Worker::look_again_soon()).
// *Thread safety.* Its worker's thread.
// *Invariants.* D1: one read at a time, and its owner lives until it ends. D2: a read ends once:
// with bytes, with an error, or cancelled with its socket's other operations.
// *Source.* asio/detail/reactive_socket_recv_op.hpp of Asio 1.22, which never returns
// done_and_exhausted for bytes. This file alone depends on asio::detail;
// docs/decisions/019-network-io.md.
#pragma once

#include <asio/detail/reactor_op.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <cstddef>
#include <memory>
#include <system_error>

namespace keyway::server {

class Connection;

class SocketRead final : private asio::detail::reactor_op {
 public:
  using Socket = asio::generic::stream_protocol::socket;

  SocketRead() : reactor_op(std::error_code(), &SocketRead::attempt, &SocketRead::ended) {}
  SocketRead(const SocketRead&) = delete;
  SocketRead& operator=(const SocketRead&) = delete;

  /// Calls owner->read_some() when something has come. The socket does not block.
  void start(asio::io_context& events, Socket& socket, void* data, std::size_t room,
             std::shared_ptr<Connection> owner);
  /// Whether the socket has something that a short read may have missed.
  static bool has_more(Socket& socket);

 private:
  static status attempt(reactor_op* base);
  static void ended(void* scheduler, asio::detail::operation* base, const std::error_code& error,
                    std::size_t bytes);

  int socket_ = -1;
  void* data_ = nullptr;
  std::size_t room_ = 0;
  std::shared_ptr<Connection> owner_;  // while the read is in progress
};

}  // namespace keyway::server
