// Channel: bytes to and from a server, over TCP, a Unix socket or TLS, each wait with a deadline.
// Internal to client/wire.
//
// *What.* A socket that never blocks by itself: instead it polls until the deadline. TLS works on
// top of it.
// *Thread safety.* One thread's.
// *Invariants.*
//   C1  No call continues past the deadline that was set last.
//   C2  While a write waits for room, what the server sends is taken in: a server that waits for
//       its replies to be read, before it reads on, is not waited for in turn.
#pragma once

#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <asio/ssl/stream.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "keyway/client/wire/options.h"
#include "keyway/locks/base/status.h"

namespace keyway::wire {

/// The socket, as Asio's streams want it.
class TimedSocket {
 public:
  using Socket = asio::generic::stream_protocol::socket;
  using executor_type = Socket::executor_type;
  using lowest_layer_type = Socket::lowest_layer_type;

  explicit TimedSocket(asio::io_context& context) : socket_(context) {}

  executor_type get_executor() { return socket_.get_executor(); }
  lowest_layer_type& lowest_layer() { return socket_.lowest_layer(); }

  void set_deadline(std::uint64_t by_ns) { by_ns_ = by_ns; }
  /// Closes what was open before.
  void connect(const Socket::endpoint_type& server, std::error_code& error);

  template <class Buffers>
  std::size_t read_some(const Buffers& buffers, std::error_code& error) {
    if (!early_.empty()) return take_early(asio::mutable_buffer(*begin_of(buffers)), error);
    for (;;) {
      const std::size_t bytes = socket_.read_some(buffers, error);
      if (!would_block(error) || !wait(false, error)) return bytes;
    }
  }

  template <class Buffers>
  std::size_t write_some(const Buffers& buffers, std::error_code& error) {
    for (;;) {
      const std::size_t bytes = socket_.write_some(buffers, error);
      if (!would_block(error) || !wait(true, error)) return bytes;
      take_in();
    }
  }

  /// Whether a read would find something at once, or the end.
  bool has_news();

 private:
  static bool would_block(const std::error_code& error);
  template <class Buffers>
  static auto begin_of(const Buffers& buffers) {
    return asio::buffer_sequence_begin(buffers);
  }
  std::size_t take_early(asio::mutable_buffer into, std::error_code& error);
  /// Reads what has come meanwhile.
  void take_in();
  /// Until there is something to be read or, when `to_write`, room to write; not past the deadline.
  bool wait(bool to_write, std::error_code& error);

  Socket socket_;
  std::uint64_t by_ns_ = 0;
  std::string early_;         // has come while we were writing
  std::size_t early_at_ = 0;  // bytes of it that were read
  bool ended_ = false;        // the server sends no more
};

class Channel {
 public:
  Channel() : socket_(std::make_unique<Streams>()) {}

  /// Connects, and agrees on TLS where the options want it. kUnavailable, kTimeout; with TLS also
  /// kInvalidArgument.
  Status open(const Options& options, std::uint64_t by_ns);

  void set_deadline(std::uint64_t by_ns) { plain().set_deadline(by_ns); }
  std::size_t read_some(char* into, std::size_t room, std::error_code& error);
  /// Not all of the bytes, perhaps.
  std::size_t write_some(std::string_view bytes, std::error_code& error);
  bool has_news();
  int descriptor() { return plain().lowest_layer().native_handle(); }

 private:
  struct Streams {
    asio::io_context context{1};
    std::optional<asio::ssl::context> tls_context;
    std::optional<TimedSocket> plain;
    std::optional<asio::ssl::stream<TimedSocket&>> tls;
  };

  TimedSocket& plain() { return *socket_->plain; }
  Status connect(const Options& options, std::uint64_t by_ns);
  Status start_tls(const Options& options);

  std::unique_ptr<Streams> socket_;
};

/// A failure of a read or a write, as a sentence: kTimeout or kUnavailable.
Status status_of(const std::error_code& error, std::string_view server);

}  // namespace keyway::wire
