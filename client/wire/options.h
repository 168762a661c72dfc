// Where a server is and how it wants to be spoken to.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "keyway/kvstore/resp/reply_writer.h"

namespace keyway::wire {

inline constexpr std::uint16_t kDefaultPort = 6379;  // what redis:// means without one

struct TlsOptions {
  bool on = false;
  bool verify = true;       // off: whoever answers is taken for the server
  std::string ca_file;      // PEM; empty: the authorities that this host trusts
  std::string cert_file;    // PEM, the client's own; empty: none
  std::string key_file;     // PEM
  std::string server_name;  // that the certificate has to be for; empty: the host
};

struct Options {
  std::string host = "127.0.0.1";  // a name or an address
  std::uint16_t port = kDefaultPort;
  std::string path;  // of a Unix socket, instead of host and port
  std::string user;  // empty: the server's default user
  std::string password;
  TlsOptions tls;
  std::uint32_t database = 0;
  std::string client_name;  // that CLIENT LIST shows; no blanks
  resp::Version version = resp::Version::kResp2;
  // Of connecting as a whole, with all addresses, TLS and the password.
  std::chrono::milliseconds connect_timeout{5000};
  // Of sending a batch, and of each reply.
  std::chrono::milliseconds request_timeout{10000};
};

}  // namespace keyway::wire
