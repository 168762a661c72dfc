// TLS: the context of a listener, and the layer over a connection's socket.
//
// *What.* OpenSSL through Asio: TLS 1.2 and later. A plain connection has no layer, and pays one
// branch for the question.
// *Thread safety.* A context may be used by all threads; a layer belongs to its connection.
// *Invariants.* S1: a client that must show a certificate and does not gets no further than the
// handshake.
#pragma once

#include <asio/generic/stream_protocol.hpp>
#include <asio/ssl/context.hpp>
#include <asio/ssl/stream.hpp>
#include <memory>

#include "keyway/locks/base/status.h"
#include "keyway/server/net/net_options.h"

namespace keyway::server {

using TlsContext = asio::ssl::context;
/// kInvalidArgument names the option with an unusable file, and says why.
Result<std::unique_ptr<TlsContext>> tls_context(const TlsOptions& options);

struct TlsLayer {
  using Socket = asio::generic::stream_protocol::socket;
  TlsLayer(Socket& socket, TlsContext& context) : stream(socket, context) {}

  asio::ssl::stream<Socket&> stream;
};

}  // namespace keyway::server
