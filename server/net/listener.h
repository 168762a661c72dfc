// Listener: accepts clients on addresses and hands each to the worker that has least to do.
//
// *What.* TCP addresses and paths of Unix sockets. Above the maximum number of clients, new ones
// get an error and are disconnected.
// *Thread safety.* Belongs to the thread that runs its events; left() may be called by any.
// *Invariants.* B1: an address that is not of this host alone is bound only where clients have to
// give a password (address.h). B2: a path that was bound is removed when the listener ends.
#pragma once

#include <asio/basic_socket_acceptor.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/base/status.h"
#include "keyway/server/net/address.h"
#include "keyway/server/net/net_options.h"
#include "keyway/server/net/worker.h"

namespace keyway::server {

class Listener {
 public:
  /// How many clients there may be at one time is in the service's settings, which may change.
  Listener(asio::io_context& events, std::vector<std::unique_ptr<Worker>>& workers,
           std::atomic<std::uint32_t>& clients, const ListenerOptions& options, Service& service);
  ~Listener();

  /// kInvalidArgument if it is not an address, kUnavailable if it cannot be bound. Port 0: a free
  /// one, which newest_port() returns.
  Status listen_on_tcp(std::string_view address, std::uint16_t port, const Entrance& entrance = {});
  Status listen_on_path(const std::string& path);
  /// The port of the first TCP address.
  std::uint16_t port() const;
  /// The port of the last address; 0 if that is a path.
  std::uint16_t newest_port() const;
  void start();
  /// Accepts no more clients. Paths are removed: another server may bind them.
  void stop();

 private:
  struct Acceptor : asio::basic_socket_acceptor<asio::generic::stream_protocol> {
    Acceptor(asio::io_context& events, const Entrance& what)
        : basic_socket_acceptor(events), entrance(what) {}
    Entrance entrance;
  };

  Status listen(const Endpoint& endpoint, const std::string& name, const Entrance& entrance);
  void accept(Acceptor& from);
  void accept_some(Acceptor& from);
  Worker& least_busy();
  void accepted(Worker& worker, Connection::Socket socket, const Entrance& entrance);
  void keep_alive(Connection::Socket& socket);
  /// After a failure that another try would meet at once, such as no file descriptor.
  void accept_later(Acceptor& from);

  static constexpr std::chrono::milliseconds kPause{100};

  asio::io_context& events_;
  std::vector<std::unique_ptr<Worker>>& workers_;
  std::atomic<std::uint32_t>& clients_;  // workers count down
  ListenerOptions options_;
  Service& service_;
  std::list<Acceptor> acceptors_;
  std::list<asio::steady_timer> pauses_;  // until acceptors that failed try again
  std::vector<std::string> paths_;
  std::uint64_t next_id_ = 1;
};

}  // namespace keyway::server
