// The options of keywayd: from its command line, its environment and a file.
//
// *Thread safety.* Values, and functions of their arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "keyway/client/program/command_line.h"
#include "keyway/server/named_locks/lock_service.h"
#include "keyway/server/net/net_options.h"

namespace keyway::server {

using program::kExitOk;
using program::kExitUnavailable;
using program::kExitUsage;

/// The limits of one connection's resources and time: the first values of Settings.
struct ConnectionLimits {
  std::uint64_t word_bytes = 512ULL << 20;
  std::uint64_t query_bytes = 1ULL << 30;
  std::uint64_t output_bytes = 1ULL << 30;
  std::uint32_t idle_s = 0;
  std::uint32_t login_s = 60;
  std::uint32_t output_s = 60;
  std::uint32_t keepalive_s = 300;
};

struct Options {
  std::vector<std::string> bind = {"127.0.0.1"};
  std::uint16_t port = 7400;   // 0: any, or none where there is tls_port
  std::uint16_t tls_port = 0;  // 0: none
  TlsOptions tls;
  std::string unix_socket;  // "": none
  std::string password;     // "": none is required
  std::uint32_t workers = 1;
  std::uint32_t fibers = 32;            // per worker: requests that can wait at one time
  std::string pipeline_order = "slot";  // or "strict"
  std::uint32_t poll_us = 20;  // how long a busy worker polls for requests before it sleeps
  ListenerOptions listener;
  ConnectionLimits limits;
  std::uint32_t clients_limit = 10'000;  // which it may be set to later: not an option
  std::int64_t slow_us = 10'000;         // -1: no request is slow
  std::uint64_t most_slow = 128;
  std::uint64_t latency_threshold_ms = 0;  // 0: no latency events
  std::uint32_t shutdown_timeout_s = 10;
  std::uint32_t expire_share = 10;  // percent of a core; 0: expired keys are not swept
  std::uint64_t memory_bytes = 1ULL << 30;
  std::uint64_t element_bytes = 512;
  std::uint64_t transaction_bytes = 64ULL << 20;
  std::uint64_t output_memory_bytes = 1ULL << 30;  // replies that wait, for all clients
  std::string fabric = "auto";                     // or "shm", "mpi"
  std::string store_options;           // parameters of the store's URI, beyond the others
  std::string cluster = "auto";        // or "on", "off"
  std::string announce_host;           // "": the address that it listens on
  std::uint16_t cluster_port = 0;      // 0: any, where there are several ranks
  std::uint16_t cluster_tls_port = 0;  // the same of tls_port
  std::string lock = "default";
  std::string path = "auto";  // of edits of other nodes' keys; or "onesided", "owner" (types.h)
  std::optional<std::uint16_t> metrics_port;  // nothing: no metrics
  std::string metrics_bind = "127.0.0.1";
  std::string config_file;  // the path given by --config; "": none
  std::uint64_t lock_memory_bytes = 16ULL << 20;
  LockLimits lock_limits;
};

inline constexpr std::uint32_t kMaxClients = 1'000'000;

using Parsed = program::Parsed<Options>;
Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace keyway::server
