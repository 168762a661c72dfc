// Addresses of a host, with a deadline. Internal.
#pragma once

#include <asio/ip/tcp.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "keyway/locks/base/status.h"

namespace keyway::wire {

/// All addresses of a name, in the system's order; `by_ns` is of steady_ns(). kUnavailable when
/// there are none, kTimeout.
Result<std::vector<asio::ip::tcp::endpoint>> resolve(const std::string& host, std::uint16_t port,
                                                     std::uint64_t by_ns);

}  // namespace keyway::wire
