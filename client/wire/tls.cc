#include "keyway/client/wire/tls.h"

#include <fmt/core.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <asio/ip/address.hpp>
#include <system_error>

namespace keyway::wire {
namespace {

Status unusable_file(std::string_view what, const std::string& file, const std::error_code& error) {
  return {Code::kInvalidArgument,
          fmt::format("TLS: {} '{}' cannot be used ({})", what, file, error.message())};
}

}  // namespace

Result<asio::ssl::context> tls_context(const TlsOptions& options) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  context.set_verify_mode(options.verify ? asio::ssl::verify_peer : asio::ssl::verify_none);
  std::error_code error;
  if (options.ca_file.empty()) {
    context.set_default_verify_paths(error);
  } else {
    context.load_verify_file(options.ca_file, error);
  }
  if (error) return unusable_file("the file of authorities", options.ca_file, error);
  if (options.cert_file.empty()) return context;
  context.use_certificate_chain_file(options.cert_file, error);
  if (error) return unusable_file("the certificate", options.cert_file, error);
  context.use_private_key_file(options.key_file, asio::ssl::context::pem, error);
  if (error) return unusable_file("the key", options.key_file, error);
  return context;
}

Status name_server(SSL* connection, const std::string& name, bool verify) {
  std::error_code not_address;
  asio::ip::make_address(name, not_address);
  X509_VERIFY_PARAM* expected = SSL_get0_param(connection);
  bool done = true;
  if (not_address) {
    done = SSL_set_tlsext_host_name(connection, name.c_str()) == 1 &&
           (!verify || X509_VERIFY_PARAM_set1_host(expected, name.c_str(), name.size()) == 1);
  } else if (verify) {
    done = X509_VERIFY_PARAM_set1_ip_asc(expected, name.c_str()) == 1;
  }
  if (done) return {};
  return {Code::kInvalidArgument, fmt::format("TLS: '{}' is not the name of a server", name)};
}

std::string tls_trouble(SSL* connection, const std::error_code& error) {
  const long verdict = SSL_get_verify_result(connection);
  if (verdict == X509_V_OK) return error.message();
  return fmt::format("its certificate was refused: {}", X509_verify_cert_error_string(verdict));
}

}  // namespace keyway::wire
