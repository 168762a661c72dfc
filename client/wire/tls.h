// The TLS context from the files that the options name. Internal.
#pragma once

#include <asio/ssl/context.hpp>
#include <string>
#include <system_error>

#include "keyway/client/wire/options.h"
#include "keyway/locks/base/status.h"

namespace keyway::wire {

/// kInvalidArgument with a sentence that names the file.
Result<asio::ssl::context> tls_context(const TlsOptions& options);

/// Prepares one connection: the name that the server must prove, and that is sent to it.
Status name_server(SSL* connection, const std::string& name, bool verify);

/// Why a handshake failed, for people.
std::string tls_trouble(SSL* connection, const std::error_code& error);

}  // namespace keyway::wire
