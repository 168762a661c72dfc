// The name of a connection.
//
// *Thread safety.* As Call.
// *Source.* Redis 7.0, networking.c (clientSetName).
#pragma once

#include <string_view>

#include "keyway/server/commands/call.h"

namespace keyway::server {

/// Calls the connection so.
void name_client(const Call& call, std::string_view name);
/// The same; where it may not be, says why and returns false. Empty: no name.
bool set_name_or_error(const Call& call, std::string_view name);

}  // namespace keyway::server
