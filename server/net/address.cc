#include "keyway/server/net/address.h"

#include <fmt/core.h>
#include <sys/un.h>

#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <cstring>
#include <system_error>

namespace keyway::server {
namespace {

asio::ip::tcp::endpoint as_tcp(const Endpoint& endpoint) {
  asio::ip::tcp::endpoint tcp;
  tcp.resize(endpoint.size());
  std::memcpy(tcp.data(), endpoint.data(), endpoint.size());
  return tcp;
}

bool is_path(const Endpoint& endpoint) { return endpoint.protocol().family() == AF_UNIX; }

Result<asio::ip::address> parsed(std::string_view address) {
  std::error_code error;
  const auto made = asio::ip::make_address(std::string(address), error);
  if (!error) return made;
  return Status(
      Code::kInvalidArgument,
      fmt::format("'{}' is not a valid bind address: write for example 127.0.0.1 or ::1", address));
}

}  // namespace

Result<Endpoint> tcp_endpoint(std::string_view address, std::uint16_t port) {
  const auto made = parsed(address);
  if (!made.ok()) return made.status();
  return Endpoint(asio::ip::tcp::endpoint(*made, port));
}

Result<Endpoint> path_endpoint(const std::string& path) {
  if (path.size() < sizeof(sockaddr_un::sun_path)) {
    return Endpoint(asio::local::stream_protocol::endpoint(path));
  }
  return Status(Code::kInvalidArgument,
                fmt::format("{} is too long for the path of a Unix socket", path));
}

Status check_bind(std::string_view address, bool has_password) {
  const auto made = parsed(address);
  if (!made.ok()) return made.status();
  if (made->is_loopback() || has_password) return {};
  return {Code::kInvalidArgument,
          fmt::format("{} can be reached from other hosts: give a password (--requirepass or "
                      "--requirepass-file) before it is bound",
                      address)};
}

std::string canonical(std::string_view address) {
  const auto made = parsed(address);
  return made.ok() ? made->to_string() : std::string(address);
}

bool is_any_address(std::string_view address) {
  const auto made = parsed(address);
  return made.ok() && made->is_unspecified();
}

std::string text_of(const Endpoint& endpoint) {
  if (is_path(endpoint)) {
    const auto* named = static_cast<const sockaddr_un*>(static_cast<const void*>(endpoint.data()));
    const std::size_t longest = endpoint.size() - offsetof(sockaddr_un, sun_path);
    return std::string(named->sun_path, strnlen(named->sun_path, longest)) + ":0";
  }
  const auto tcp = as_tcp(endpoint);
  const std::string address = tcp.address().to_string();
  return fmt::format(fmt::runtime(tcp.address().is_v6() ? "[{}]:{}" : "{}:{}"), address,
                     tcp.port());
}

std::uint16_t port_of(const Endpoint& endpoint) {
  return is_path(endpoint) ? std::uint16_t{0} : as_tcp(endpoint).port();
}

}  // namespace keyway::server
