// Addresses of sockets, as text and as Asio's endpoints.
//
// *Thread safety.* Functions of their arguments.
#pragma once

#include <asio/generic/stream_protocol.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "keyway/locks/base/status.h"

namespace keyway::server {

using Endpoint = asio::generic::stream_protocol::endpoint;

/// "127.0.0.1" or "::1", and a port. kInvalidArgument.
Result<Endpoint> tcp_endpoint(std::string_view address, std::uint16_t port);
/// The path of a Unix socket. kInvalidArgument when it is too long.
Result<Endpoint> path_endpoint(const std::string& path);

/// Whether an address may be bound: one that other hosts can reach only where clients have to give
/// a password. kInvalidArgument with a sentence.
Status check_bind(std::string_view address, bool has_password);

/// An address as text_of() writes it, where it is one.
std::string canonical(std::string_view address);

/// Whether it means every address of the host.
bool is_any_address(std::string_view address);

/// As Redis writes it: "127.0.0.1:7400", "[::1]:7400", "/run/keyway.sock:0".
std::string text_of(const Endpoint& endpoint);
/// 0 for a path.
std::uint16_t port_of(const Endpoint& endpoint);

}  // namespace keyway::server
