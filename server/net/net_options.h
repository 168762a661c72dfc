// Options of listeners and TLS: each is an option of keywayd.
//
// *Thread safety.* Values.
#pragma once

#include <cstdint>
#include <string>

namespace asio::ssl {
class context;
}  // namespace asio::ssl

namespace keyway::server {

/// Properties of all clients of a port.
struct Entrance {
  asio::ssl::context* tls = nullptr;  // outlives them; null: plain
  bool of_cluster = false;            // only CLUSTER SLOTS and its like report the port
};

struct ListenerOptions {
  std::uint32_t most_clients = 10'000;  // at one time, of all workers
  int backlog = 511;                    // connections that wait to be accepted, of each address
};

enum class TlsClients { kNo, kOptional, kYes };  // whether clients show a certificate

struct TlsOptions {
  std::string cert;  // files of PEM: the certificate, and those that lead to its authority
  std::string key;   // without a password
  std::string ca;    // authorities of clients' certificates
  TlsClients clients = TlsClients::kNo;
};

}  // namespace keyway::server
