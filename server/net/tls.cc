#include "keyway/server/net/tls.h"

#include <fmt/core.h>
#include <openssl/ssl.h>

#include <system_error>

namespace keyway::server {
namespace {

Status unusable_file(std::string_view option, const std::string& file,
                     const std::error_code& error) {
  return {Code::kInvalidArgument,
          fmt::format("{}: '{}' cannot be used: {}", option, file, error.message())};
}

Status ask_clients(TlsContext& context, const TlsOptions& options) {
  std::error_code error;
  context.load_verify_file(options.ca, error);
  if (error) return unusable_file("--tls-ca", options.ca, error);
  auto mode = asio::ssl::verify_peer;
  if (options.clients == TlsClients::kYes) mode |= asio::ssl::verify_fail_if_no_peer_cert;  // S1
  context.set_verify_mode(mode);
  // Clients look for a certificate of theirs that one of these authorities has signed.
  SSL_CTX_set_client_CA_list(context.native_handle(), SSL_load_client_CA_file(options.ca.c_str()));
  return {};
}

}  // namespace

Result<std::unique_ptr<TlsContext>> tls_context(const TlsOptions& options) {
  auto context = std::make_unique<TlsContext>(TlsContext::tls_server);
  SSL_CTX* const native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // A client that returns shakes hands again, and shows its certificate again.
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(native, 0);
  SSL_CTX_set_options(native, SSL_OP_NO_TICKET);
  // A key with a password would be asked for on the terminal.
  context->set_password_callback([](std::size_t, auto) { return std::string(); });
  std::error_code error;
  context->use_certificate_chain_file(options.cert, error);
  if (error) return unusable_file("--tls-cert", options.cert, error);
  context->use_private_key_file(options.key, TlsContext::pem, error);
  if (error) return unusable_file("--tls-key", options.key, error);
  if (options.clients != TlsClients::kNo) {
    if (Status status = ask_clients(*context, options); !status.ok()) return status;
  }
  return context;
}

}  // namespace keyway::server
