#include "keyway/server/net/listener.h"

#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/write.hpp>
#include <system_error>
#include <utility>

namespace keyway::server {
namespace {

/// Whether no server answers at a path: a killed server has left it.
bool is_left_behind(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0 || !S_ISSOCK(file.st_mode)) return false;
  asio::io_context events;
  asio::local::stream_protocol::socket socket(events);
  std::error_code error;
  socket.connect(asio::local::stream_protocol::endpoint(path), error);
  return error == asio::error::connection_refused;
}

}  // namespace

Listener::Listener(asio::io_context& events, std::vector<std::unique_ptr<Worker>>& workers,
                   std::atomic<std::uint32_t>& clients, const ListenerOptions& options,
                   Service& service)
    : events_(events), workers_(workers), clients_(clients), options_(options), service_(service) {}

Listener::~Listener() { stop(); }

Status Listener::listen_on_tcp(std::string_view address, std::uint16_t port,
                               const Entrance& entrance) {
  const auto endpoint = tcp_endpoint(address, port);
  return endpoint.ok() ? listen(*endpoint, text_of(*endpoint), entrance) : endpoint.status();
}

Status Listener::listen_on_path(const std::string& path) {
  const auto endpoint = path_endpoint(path);
  if (!endpoint.ok()) return endpoint.status();
  if (is_left_behind(path)) unlink(path.c_str());
  const mode_t before = umask(0177);  // for the user that runs it
  Status status = listen(*endpoint, path, {});
  umask(before);
  if (status.ok()) paths_.push_back(path);
  return status;
}

Status Listener::listen(const Endpoint& endpoint, const std::string& name,
                        const Entrance& entrance) {
  Acceptor& acceptor = acceptors_.emplace_back(events_, entrance);
  std::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error && port_of(endpoint) != 0) {
    acceptor.set_option(asio::socket_base::reuse_address(true), error);
  }
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(options_.backlog, error);
  if (!error) acceptor.non_blocking(true, error);  // for accept_some()
  if (!error) return {};
  acceptors_.pop_back();
  return {Code::kUnavailable, fmt::format("cannot listen on {}: {}", name, error.message())};
}

std::uint16_t Listener::port() const {
  for (const Acceptor& acceptor : acceptors_) {
    const std::uint16_t port = port_of(acceptor.local_endpoint());
    if (port != 0) return port;
  }
  return 0;
}

std::uint16_t Listener::newest_port() const {
  return acceptors_.empty() ? std::uint16_t{0} : port_of(acceptors_.back().local_endpoint());
}

void Listener::start() {
  for (Acceptor& acceptor : acceptors_) accept(acceptor);
}

void Listener::stop() {
  std::error_code ignored;
  for (Acceptor& acceptor : acceptors_) acceptor.close(ignored);
  for (asio::steady_timer& pause : pauses_) pause.cancel();
  for (const std::string& path : paths_) unlink(path.c_str());
  paths_.clear();
}

/// Waits before it selects a worker: the load of the workers changes until a client comes.
void Listener::accept(Acceptor& from) {
  from.async_wait(Acceptor::wait_read, [this, &from](std::error_code error) {
    if (!from.is_open()) return;
    if (error) return accept_later(from);
    accept_some(from);
  });
}

/// Accepts waiting clients, but few enough that signals and other events do not wait for them.
void Listener::accept_some(Acceptor& from) {
  constexpr int kAtOnce = 32;
  std::error_code error;
  for (int i = 0; i < kAtOnce && !error; ++i) {
    Worker& worker = least_busy();
    Connection::Socket socket(worker.events());
    from.accept(socket, error);
    if (error == asio::error::connection_aborted) error.clear();  // it has left the queue
    if (!error && socket.is_open()) accepted(worker, std::move(socket), from.entrance);
  }
  if (error && error != asio::error::would_block) return accept_later(from);
  accept(from);
}

/// Among several, the next in turn.
Worker& Listener::least_busy() {
  std::size_t best = next_id_ % workers_.size();
  for (std::size_t i = 1; i < workers_.size(); ++i) {
    const std::size_t at = (next_id_ + i) % workers_.size();
    if (workers_[at]->load() < workers_[best]->load()) best = at;
  }
  return *workers_[best];
}

void Listener::accept_later(Acceptor& from) {
  asio::steady_timer& pause = pauses_.emplace_front(events_, kPause);
  pause.async_wait([this, &from, at = pauses_.begin()](std::error_code) {
    pauses_.erase(at);
    if (from.is_open()) accept(from);
  });
}

void Listener::accepted(Worker& worker, Connection::Socket socket, const Entrance& entrance) {
  std::error_code ignored;
  // relaxed, here and below: counts, which order nothing.
  if (clients_.load(std::memory_order_relaxed) >= service_.settings.most_clients) {
    service_.statistics.reject_connection();
    // Before a handshake nothing can be said over TLS.
    if (entrance.tls == nullptr) {
      asio::write(socket, asio::buffer(std::string("-ERR max number of clients reached\r\n")),
                  ignored);
    }
    return;
  }
  clients_.fetch_add(1, std::memory_order_relaxed);
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);  // a Unix socket has none
  if (service_.settings.keepalive_s != 0) keep_alive(socket);
  worker.take(std::move(socket), next_id_++, entrance);
}

/// If a peer's host is lost, nothing arrives, not even an end. This cannot happen on a Unix socket,
/// which refuses the options.
void Listener::keep_alive(Connection::Socket& socket) {
  constexpr int kProbes = 3;
  const int silence_s = static_cast<int>(+service_.settings.keepalive_s);
  std::error_code ignored;
  const auto set = [&](int name, int value) {
    setsockopt(socket.native_handle(), IPPROTO_TCP, name, &value, sizeof value);
  };
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  set(TCP_KEEPIDLE, silence_s);
  set(TCP_KEEPINTVL, std::max(1, silence_s / kProbes));
  set(TCP_KEEPCNT, kProbes);
}

}  // namespace keyway::server
