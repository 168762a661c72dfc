// URIs of servers, as text and as Options: the only place that parses them.
//
//   redis://[[user]:password@]host[:port][/database][?name=value&...]   rediss: the same over TLS
//   unix:/path/of/socket[?name=value&...]                               or unix:///path
//
// A byte with a special meaning is written %XX, in every part.
//
// *Thread safety.* Functions of their arguments: no file, no name is looked up.
#pragma once

#include <string>
#include <string_view>

#include "keyway/client/wire/options.h"
#include "keyway/locks/base/status.h"

namespace keyway::wire {

/// Whether a URI begins as one of a server does: redis:, rediss: or unix:.
bool is_server_uri(std::string_view uri);

/// Fields that the URI does not set stay as in `defaults`. kInvalidArgument with a sentence that
/// contains no password.
Result<Options> parse_server_uri(std::string_view uri, Options defaults = {});

/// The server for people: "127.0.0.1:6379", "[::1]:6379", "/run/keyway.sock".
std::string text_of(const Options& options);

/// A URI with what may be a password left out, for messages.
std::string without_password(std::string_view uri);

}  // namespace keyway::wire
