// A client as CLIENT INFO and CLIENT LIST show it.
//
// *Thread safety.* Functions of their arguments. The registry guards the name of a client's info.
// *Source.* Redis 7.0, networking.c (catClientInfoString): the fields and their order. Only the
// waiting replies are known of buffers and memory.
#pragma once

#include <cstdint>
#include <string>

#include "keyway/server/commands/connection/client_registry.h"

namespace keyway::server {

/// `queued`: commands of the transaction that it executes; -1: none.
std::string client_line(const ClientInfo& info, std::uint64_t now_ms, std::uint64_t now_ns,
                        std::int64_t queued = -1);

}  // namespace keyway::server
