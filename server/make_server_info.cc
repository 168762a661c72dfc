#include "make_server_info.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "job.h"
#include "keyway/client/program/provenance.h"
#include "keyway/locks/base/clock.h"
#include "keyway/server/net/address.h"

namespace keyway::server {
namespace {

std::string drawn_id() {
  constexpr int kWords = 5;
  std::random_device draw;
  std::string id;
  for (int i = 0; i < kWords; ++i) id += fmt::format("{:08x}", draw());
  return id;
}

/// The constant parameters of CONFIG GET: those that Redis has and clients request; then our own
/// options.
std::vector<std::pair<std::string, std::string>> parameters_of(const Options& options) {
  return {{"appendonly", "no"},
          {"bind", fmt::format("{}", fmt::join(options.bind, " "))},
          {"client-output-memory", fmt::to_string(options.output_memory_bytes)},
          {"daemonize", "no"},
          {"databases", "1"},
          {"latency-tracking", "yes"},
          {"latency-tracking-info-percentiles", "50 99 99.9"},
          {"maxmemory", fmt::to_string(options.memory_bytes)},
          {"maxmemory-policy", "noeviction"},
          {"notify-keyspace-events", ""},
          {"port", fmt::to_string(options.port)},
          {"save", ""},
          {"tcp-backlog", fmt::to_string(options.listener.backlog)},
          {"tls-port", fmt::to_string(options.tls_port)},
          {"unixsocket", options.unix_socket},
          {"fibers", fmt::to_string(options.fibers)},
          {"lock-policy", options.lock},
          {"workers", fmt::to_string(options.workers)}};
}

/// Whether an address is bound that is not of this host alone.
bool is_reached_by_others(const Options& options) {
  return std::any_of(options.bind.begin(), options.bind.end(),
                     [](const std::string& address) { return !check_bind(address, false).ok(); });
}

/// Clients take a comma in a field of INFO for the end of a part of it.
std::string without_commas(std::string text) {
  std::replace(text.begin(), text.end(), ',', ';');
  return text;
}

}  // namespace

ServerInfo make_server_info(const Options& options, const Store& store) {
  std::error_code unknown;
  return {.version = std::string(program::version()),
          .revision = std::string(program::revision()),
          .run_id = drawn_id(),
          .executable = std::filesystem::read_symlink("/proc/self/exe", unknown).string(),
          .config_file = options.config_file,
          .begin_ns = steady_ns(),
          .workers = options.workers,
          .fibers = options.fibers,
          .ranks = store.ranks(),
          .processes = store.processes(),
          .process = store.process(),
          .fabric = is_of_job(options) ? "mpi" : "shm",
          .topology = without_commas(store.describe()),
          .lock = without_commas(store.options().lock),
          .reached_by_others = is_reached_by_others(options),
          .memory_bytes = options.memory_bytes,
          .parameters = parameters_of(options)};
}

}  // namespace keyway::server
