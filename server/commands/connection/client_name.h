// The name of a connection.
//
// *What.* A name is kept for the connection and shown by CLIENT LIST, so its length is bounded:
// invariant E3.
// *Thread safety.* As Call.
// *Source.* Redis 7.0, networking.c (clientSetName). Deviations: names are bounded; HELLO gives a
// stranger its name after the login, as Redis does since 7.2.
#pragma once

#include <cstddef>
#include <string_view>

#include "keyway/server/commands/engine/call.h"

namespace keyway::server {

/// Far longer than any client's own name, and 10,000 such names take 20 MB.
inline constexpr std::size_t kMaxClientNameBytes = 1024;

/// Calls the connection so.
void name_client(const Call& call, std::string_view name);
/// Whether that may be a name; if not, says why. Empty: no name.
bool is_name_or_error(const Call& call, std::string_view name);

}  // namespace keyway::server
