// What connections, listeners and TLS are told: each of them an option of keywayd.
//
// *Thread safety.* Values.
#pragma once

#include <cstdint>
#include <string>

#include "keyway/kvstore/resp/request_parser.h"

namespace keyway::server {

/// What one connection may take, and for how long its worker waits for it.
struct ConnectionLimits {
  resp::RequestLimits request;
  std::uint64_t query_bytes = 1ULL << 30;   // received and not executed: more is not read
  std::uint64_t output_bytes = 1ULL << 30;  // replies that wait to be sent
  // Seconds; 0: for ever.
  std::uint32_t idle_s = 0;     // without a request
  std::uint32_t login_s = 60;   // until it has shaken hands (TLS) and given its password
  std::uint32_t output_s = 60;  // without taking any of the replies that wait for it
  std::uint32_t poll_us = 20;   // that a busy worker looks for requests before it sleeps
};

struct ListenerOptions {
  std::uint32_t most_clients = 10'000;  // at one time, of all workers
  int backlog = 511;                    // connections that wait to be accepted, of each address
  int keepalive_s = 300;  // of silence, until the kernel asks whether a peer is there; 0: never
};

enum class TlsClients { kNo, kOptional, kYes };  // whether clients show a certificate

struct TlsOptions {
  std::string cert;  // files of PEM: the certificate, and those that lead to its authority
  std::string key;   // without a password
  std::string ca;    // authorities of clients' certificates
  TlsClients clients = TlsClients::kNo;
};

}  // namespace keyway::server
