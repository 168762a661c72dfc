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

/// Whether nobody answers at a path, which a server that was killed has left.
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

Listener::~Listener() {
  for (const std::string& path : paths_) unlink(path.c_str());
}

Status Listener::listen_on_tcp(std::string_view address, std::uint16_t port,
                               asio::ssl::context* tls) {
  const auto endpoint = tcp_endpoint(address, port);
  return endpoint.ok() ? listen(*endpoint, text_of(*endpoint), tls) : endpoint.status();
}

Status Listener::listen_on_path(const std::string& path) {
  const auto endpoint = path_endpoint(path);
  if (!endpoint.ok()) return endpoint.status();
  if (is_left_behind(path)) unlink(path.c_str());
  const mode_t before = umask(0177);  // for the user who runs it
  Status status = listen(*endpoint, path, nullptr);
  umask(before);
  if (status.ok()) paths_.push_back(path);
  return status;
}

Status Listener::listen(const Endpoint& endpoint, const std::string& name,
                        asio::ssl::context* tls) {
  Acceptor& acceptor = acceptors_.emplace_back(events_, tls);
  std::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error && port_of(endpoint) != 0) {
    acceptor.set_option(asio::socket_base::reuse_address(true), error);
  }
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(options_.backlog, error);
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

void Listener::start() {
  for (Acceptor& acceptor : acceptors_) accept(acceptor);
}

void Listener::stop() {
  std::error_code ignored;
  for (Acceptor& acceptor : acceptors_) acceptor.close(ignored);
  for (asio::steady_timer& pause : pauses_) pause.cancel();
}

void Listener::accept(Acceptor& from) {
  Worker& worker = *workers_[next_id_ % workers_.size()];
  auto socket = std::make_shared<Connection::Socket>(worker.events());
  from.async_accept(*socket, [this, &from, &worker, socket](std::error_code error) {
    if (!from.is_open()) return;
    if (error) return accept_later(from);
    accepted(worker, std::move(*socket), from.tls);
    accept(from);
  });
}

void Listener::accept_later(Acceptor& from) {
  asio::steady_timer& pause = pauses_.emplace_front(events_, kPause);
  pause.async_wait([this, &from, at = pauses_.begin()](std::error_code) {
    pauses_.erase(at);
    if (from.is_open()) accept(from);
  });
}

void Listener::accepted(Worker& worker, Connection::Socket socket, asio::ssl::context* tls) {
  std::error_code ignored;
  // relaxed, here and below: counts, which order nothing.
  if (clients_.load(std::memory_order_relaxed) >= service_.settings.most_clients) {
    service_.statistics.reject_connection();
    // Before a handshake nothing can be said over TLS.
    if (tls == nullptr) {
      asio::write(socket, asio::buffer(std::string("-ERR max number of clients reached\r\n")),
                  ignored);
    }
    return;
  }
  clients_.fetch_add(1, std::memory_order_relaxed);
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);  // a Unix socket has none
  if (service_.settings.keepalive_s != 0) keep_alive(socket);
  worker.take(std::move(socket), next_id_++, tls);
}

/// A peer whose host has gone says nothing, not even that it has. A Unix socket's cannot go so, and
/// refuses the options.
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
