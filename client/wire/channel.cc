#include "keyway/client/wire/channel.h"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/ssl/error.hpp>
#include <cerrno>
#include <vector>

#include "keyway/client/wire/resolve.h"
#include "keyway/client/wire/tls.h"
#include "keyway/client/wire/uri.h"
#include "keyway/locks/base/clock.h"

namespace keyway::wire {
namespace {

using Endpoint = asio::generic::stream_protocol::endpoint;

Result<std::vector<Endpoint>> endpoints_of(const Options& options, std::uint64_t by_ns) {
  if (!options.path.empty()) {
    return std::vector<Endpoint>{asio::local::stream_protocol::endpoint(options.path)};
  }
  const auto found = resolve(options.host, options.port, by_ns);
  if (!found.ok()) return found.status();
  return std::vector<Endpoint>(found->begin(), found->end());
}

int ms_until(std::uint64_t by_ns) {
  constexpr std::uint64_t kNsPerMs = 1'000'000;
  const std::uint64_t now = steady_ns();
  if (now >= by_ns) return 0;
  return static_cast<int>(std::min<std::uint64_t>((by_ns - now) / kNsPerMs + 1, 1 << 30));
}

}  // namespace

bool TimedSocket::would_block(const std::error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

bool TimedSocket::wait(bool to_write, std::error_code& error) {
  const int events = (to_write ? POLLOUT : 0) | (to_write && ended_ ? 0 : POLLIN);
  pollfd wanted{socket_.native_handle(), static_cast<short>(events), 0};
  for (;;) {
    const int ready = ::poll(&wanted, 1, ms_until(by_ns_));
    error.clear();
    if (ready > 0) return true;
    if (ready < 0 && errno == EINTR) continue;
    error = ready == 0 ? std::error_code(asio::error::timed_out)
                       : std::error_code(errno, asio::error::get_system_category());
    return false;
  }
}

bool TimedSocket::has_news() {
  pollfd wanted{socket_.native_handle(), POLLIN, 0};
  return !early_.empty() || ::poll(&wanted, 1, 0) > 0;
}

void TimedSocket::take_in() {
  std::array<char, 16384> bytes;
  std::error_code error;
  const std::size_t got = socket_.read_some(asio::buffer(bytes), error);
  if (error && !would_block(error)) ended_ = true;  // reads will say so again
  early_.append(bytes.data(), got);
}

std::size_t TimedSocket::take_early(asio::mutable_buffer into, std::error_code& error) {
  error.clear();
  const std::size_t bytes = std::min(into.size(), early_.size() - early_at_);
  std::copy_n(early_.data() + early_at_, bytes, static_cast<char*>(into.data()));
  early_at_ += bytes;
  if (early_at_ == early_.size()) {
    early_.clear();
    early_at_ = 0;
  }
  return bytes;
}

void TimedSocket::connect(const Endpoint& server, std::error_code& error) {
  std::error_code ignored;  // error of closing
  ended_ = false;
  socket_.close(ignored);
  socket_.open(server.protocol(), error);
  if (error) return;
  socket_.non_blocking(true, error);
  if (error) return;
  if (server.protocol().family() != AF_UNIX) {
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  }
  // Asio's own call would wait for as long as it takes.
  if (::connect(socket_.native_handle(), server.data(), static_cast<socklen_t>(server.size())) ==
      0) {
    return;
  }
  error = std::error_code(errno, asio::error::get_system_category());
  if (error != asio::error::in_progress) return;
  pollfd wanted{socket_.native_handle(), POLLOUT, 0};
  int ready = 0;
  do {
    ready = ::poll(&wanted, 1, ms_until(by_ns_));
  } while (ready < 0 && errno == EINTR);
  error = asio::error::timed_out;
  if (ready <= 0) return;
  int result = 0;
  socklen_t size = sizeof result;
  ::getsockopt(socket_.native_handle(), SOL_SOCKET, SO_ERROR, &result, &size);
  error = std::error_code(result, asio::error::get_system_category());
}

Status status_of(const std::error_code& error, std::string_view server) {
  if (error == asio::error::timed_out) {
    return {Code::kTimeout, fmt::format("{} did not answer in time", server)};
  }
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) {
    return {Code::kUnavailable, fmt::format("{} closed the connection", server)};
  }
  return {Code::kUnavailable,
          fmt::format("the connection to {} broke ({})", server, error.message())};
}

Status Channel::open(const Options& options, std::uint64_t by_ns) {
  socket_->plain.emplace(socket_->context);
  set_deadline(by_ns);
  Status status = connect(options, by_ns);
  return status.ok() && options.tls.on ? start_tls(options) : status;
}

Status Channel::connect(const Options& options, std::uint64_t by_ns) {
  const auto endpoints = endpoints_of(options, by_ns);
  if (!endpoints.ok()) return endpoints.status();
  std::error_code error;
  for (std::size_t i = 0; i < endpoints->size(); ++i) {
    // One address that does not answer leaves time for the others.
    const std::uint64_t now = steady_ns();
    const std::uint64_t left = by_ns > now ? by_ns - now : 0;
    set_deadline(now + left / (endpoints->size() - i));
    plain().connect((*endpoints)[i], error);
    if (!error) {
      set_deadline(by_ns);
      return {};
    }
  }
  if (error == asio::error::timed_out) {
    return {Code::kTimeout, fmt::format("{} did not answer within {} ms: is it the right address, "
                                        "and does a firewall let it through?",
                                        text_of(options), options.connect_timeout.count())};
  }
  return {Code::kUnavailable, fmt::format("cannot connect to {} ({}): is the server running there?",
                                          text_of(options), error.message())};
}

Status Channel::start_tls(const Options& options) {
  auto context = tls_context(options.tls);
  if (!context.ok()) return context.status();
  socket_->tls_context.emplace(std::move(*context));
  socket_->tls.emplace(plain(), *socket_->tls_context);
  const std::string& name =
      options.tls.server_name.empty() ? options.host : options.tls.server_name;
  auto& tls = *socket_->tls;
  Status status = name_server(tls.native_handle(), name, options.tls.verify);
  if (!status.ok()) return status;
  std::error_code error;
  tls.handshake(asio::ssl::stream_base::client, error);
  if (!error) return {};
  if (error == asio::error::timed_out) {
    return {Code::kTimeout, fmt::format("{} did not answer to TLS within {} ms", text_of(options),
                                        options.connect_timeout.count())};
  }
  return {Code::kInvalidArgument, fmt::format("TLS with {} failed: {}", text_of(options),
                                              tls_trouble(tls.native_handle(), error))};
}

std::size_t Channel::read_some(char* into, std::size_t room, std::error_code& error) {
  const auto buffer = asio::buffer(into, room);
  return socket_->tls ? socket_->tls->read_some(buffer, error) : plain().read_some(buffer, error);
}

std::size_t Channel::write_some(std::string_view bytes, std::error_code& error) {
  const auto buffer = asio::buffer(bytes);
  return socket_->tls ? socket_->tls->write_some(buffer, error) : plain().write_some(buffer, error);
}

bool Channel::has_news() {
  return (socket_->tls && SSL_pending(socket_->tls->native_handle()) > 0) || plain().has_news();
}

}  // namespace keyway::wire
