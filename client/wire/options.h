// The address of a server and the options of a connection to it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "keyway/kvstore/resp/reply_writer.h"

namespace keyway::wire {

inline constexpr std::uint16_t kDefaultPort = 6379;  // the default port of redis://

struct TlsOptions {
  bool on = false;
  bool verify = true;       // off: accept any server
  std::string ca_file;      // PEM; empty: the authorities that this host trusts
  std::string cert_file;    // PEM, the client's own; empty: none
  std::string key_file;     // PEM
  std::string server_name;  // name that the certificate must have; empty: the host
};

struct Options {
  std::string host = "127.0.0.1";  // a name or an address
  std::uint16_t port = kDefaultPort;
  std::string path;  // path of a Unix socket, instead of host and port
  std::string user;  // empty: the server's default user
  std::string password;
  TlsOptions tls;
  std::uint32_t database = 0;
  std::string client_name;  // name in CLIENT LIST; no blanks
  resp::Version version = resp::Version::kResp2;
  // For connecting as a whole, with all addresses, TLS and the password.
  std::chrono::milliseconds connect_timeout{5000};
  // For sending a batch, and for each reply.
  std::chrono::milliseconds request_timeout{10000};
};

}  // namespace keyway::wire
