#include "options.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include "keyway/client/program/provenance.h"
#include "keyway/server/net/address.h"

namespace keyway::server {
namespace {

constexpr const char* kFooter =
    "Every option can also be set in the environment, as KEYWAYD_ and its name in capitals, and\n"
    "in the file of --config (TOML: port = 7401). The command line wins, then the environment.\n"
    "Signals: SIGTERM and SIGINT end the server when all received requests are answered, or\n"
    "after --shutdown-timeout and 5 s more. A second one, half a second later, ends it at once.\n"
    "SIGHUP and SIGPIPE are ignored.\n"
    "Exit codes: 0 ended by SIGTERM or SIGINT, and all received requests were answered; 2 bad\n"
    "usage or configuration; 3 an address, a path or memory is not available; 4 ended with\n"
    "unanswered requests, or without the other ranks. The ranks of a job start and end together,\n"
    "no matter which rank gets the signal. mpirun's exit code is 0 if all ranks' are 0, else that\n"
    "of a rank, or 9 (SIGKILL) or 1 if mpirun has killed the ranks.\n\n"
    "Examples: keywayd --memory 4GiB --workers 4 --unixsocket /run/keyway.sock\n"
    "          mpirun.mpich -n 4 keywayd --port 7400    (rank 3 is on 7403)";

/// Parts of the command line in another form than in Options.
struct Texts {
  std::string memory = "1GiB";
  std::string element = "512";
  std::string largest_word = "512MiB";
  std::string query_buffer = "1GiB";
  std::string output_buffer = "1GiB";
  std::string output_memory = "1GiB";
  std::string transaction = "64MiB";
  std::string lock_memory = "16MiB";
  std::string password_file;
  std::string tls_clients;
  bool print_config = false;
};

CLI::Option* env(CLI::Option* option, const char* name) {
  return option->envname(name)->capture_default_str();
}

void declare_lock_limits(CLI::App& app, LockLimits& limits, Texts& texts) {
  constexpr std::uint64_t kMaxMs = 1'000'000'000'000;
  const auto add = [&](const char* name, auto& value, auto least, auto most, const char* variable,
                       const char* what) {
    env(app.add_option(name, value, what), variable)->check(CLI::Range(least, most));
  };
  env(app.add_option("--lock-memory", texts.lock_memory, "memory of named locks (KW.LOCK)"),
      "KEYWAYD_LOCK_MEMORY");
  add("--lock-waiters", limits.waiters, 1U, 1'000'000U, "KEYWAYD_LOCK_WAITERS",
      "clients that may wait for one named lock at one time");
  add("--lock-held", limits.held, 1U, 1'000'000U, "KEYWAYD_LOCK_HELD",
      "named locks that one connection may hold at one time");
  add("--lock-lease", limits.lease_ms, std::uint64_t{1}, kMaxMs, "KEYWAYD_LOCK_LEASE",
      "longest time in ms that a named lock is held, if the client gives no LEASE");
  add("--lock-timeout", limits.timeout_ms, std::uint64_t{0}, kMaxMs, "KEYWAYD_LOCK_TIMEOUT",
      "ms that a client waits for a named lock, if it gives no TIMEOUT");
  add("--lock-longest", limits.longest_ms, std::uint64_t{1}, kMaxMs, "KEYWAYD_LOCK_LONGEST",
      "largest LEASE or TIMEOUT in ms that a client may give");
}

void declare_addresses(CLI::App& app, Options& options, Texts& texts) {
  env(app.add_option("--bind", options.bind, "addresses to listen on, besides a Unix socket"),
      "KEYWAYD_BIND")
      ->delimiter(',')
      ->default_str(fmt::format("{}", fmt::join(options.bind, ",")));
  env(app.add_option("--port", options.port,
                     "TCP port of rank 0; rank r's port is this plus r; 0: a free port, or none "
                     "if there is --tls-port"),
      "KEYWAYD_PORT");
  env(app.add_option("--unixsocket", options.unix_socket,
                     "path of a Unix socket to listen on; rank r adds .r, from 1 on"),
      "KEYWAYD_UNIXSOCKET");
  env(app.add_option("--tcp-backlog", options.listener.backlog,
                     "connections that may wait to be accepted, for each address"),
      "KEYWAYD_TCP_BACKLOG")
      ->check(CLI::Range(1, 65'535));
  env(app.add_option(
          "--tcp-keepalive", options.limits.keepalive_s,
          "s of silence until the kernel checks that a client's host is alive; 0: never"),
      "KEYWAYD_TCP_KEEPALIVE")
      ->check(CLI::Range(0, 32'767));
  env(app.add_option("--tls-port", options.tls_port,
                     "TCP port of rank 0 for TLS; rank r's port is this plus r; 0: none"),
      "KEYWAYD_TLS_PORT");
  env(app.add_option("--tls-cert", options.tls.cert, "the server's certificate, a PEM file"),
      "KEYWAYD_TLS_CERT");
  env(app.add_option("--tls-key", options.tls.key, "its key, a PEM file without a password"),
      "KEYWAYD_TLS_KEY");
  env(app.add_option("--tls-ca", options.tls.ca,
                     "authorities that sign clients' certificates, a PEM file"),
      "KEYWAYD_TLS_CA");
  env(app.add_option("--tls-auth-clients", texts.tls_clients,
                     "ask clients for a certificate: no, optional or yes (default: yes with "
                     "--tls-ca, else no)"),
      "KEYWAYD_TLS_AUTH_CLIENTS")
      ->check(CLI::IsMember({"", "no", "optional", "yes"}));
}

void declare_job(CLI::App& app, Options& options) {
  env(app.add_option("--fabric", options.fabric,
                     "shm: a store in this process, without MPI; mpi: each process of mpirun is a "
                     "rank of the store; auto: mpi if a launcher started this, else shm"),
      "KEYWAYD_FABRIC")
      ->check(CLI::IsMember({"auto", "shm", "mpi"}));
  env(app.add_option(
          "--cluster", options.cluster,
          "show the ranks to clients as a Redis Cluster; auto: if there are several. Any "
          "rank serves any key, also to clients that do not use this"),
      "KEYWAYD_CLUSTER")
      ->check(CLI::IsMember({"auto", "on", "off"}));
  env(app.add_option("--announce-host", options.announce_host,
                     "address or name at which clients of the cluster reach this rank (default: "
                     "the address that the client used, on ranks of the same host; else the "
                     "first of --bind that other hosts reach, or the host's name)"),
      "KEYWAYD_ANNOUNCE_HOST");
  env(app.add_option("--cluster-port", options.cluster_port,
                     "TCP port of rank 0 to which CLUSTER SLOTS sends clients of the cluster; "
                     "rank r's port is this plus r. On it, SCAN, KEYS, DBSIZE and FLUSHALL are "
                     "about one rank (0: a free port)"),
      "KEYWAYD_CLUSTER_PORT");
  env(app.add_option("--cluster-tls-port", options.cluster_tls_port,
                     "the same for TLS, used with --tls-port"),
      "KEYWAYD_CLUSTER_TLS_PORT");
  env(app.add_option("--store-options", options.store_options,
                     "more parameters of the store, as in its URI: stripes=8192&timeout=5s"),
      "KEYWAYD_STORE_OPTIONS");
}

void declare_limits(CLI::App& app, Options& options, Texts& texts) {
  env(app.add_option("--maxclients", options.listener.most_clients,
                     "maximum number of clients at one time"),
      "KEYWAYD_MAXCLIENTS")
      ->check(CLI::Range(1, 1'000'000));
  env(app.add_option("--timeout", options.limits.idle_s,
                     "s without a request until a client is disconnected; 0: never"),
      "KEYWAYD_TIMEOUT");
  env(app.add_option("--auth-timeout", options.limits.login_s,
                     "s that a client has for its TLS handshake and its password; requests do not "
                     "extend it; 0: no limit"),
      "KEYWAYD_AUTH_TIMEOUT");
  env(app.add_option("--client-output-timeout", options.limits.output_s,
                     "s until a client that reads none of its replies is disconnected; 0: never"),
      "KEYWAYD_CLIENT_OUTPUT_TIMEOUT");
  env(app.add_option("--client-query-buffer-limit", texts.query_buffer,
                     "largest size of a client's incomplete requests"),
      "KEYWAYD_CLIENT_QUERY_BUFFER_LIMIT");
  env(app.add_option("--client-output-buffer-limit", texts.output_buffer,
                     "bytes of replies that may wait for a client, including the one being made; "
                     "beyond it the client is disconnected; 0: no limit"),
      "KEYWAYD_CLIENT_OUTPUT_BUFFER_LIMIT");
  env(app.add_option(
          "--client-output-memory", texts.output_memory,
          "bytes of replies that may wait for all clients. If one client's replies exceed "
          "256 KiB and the rest of this, its requests are not read until it reads some; "
          "it is disconnected if a longer reply has no room"),
      "KEYWAYD_CLIENT_OUTPUT_MEMORY");
  env(app.add_option("--proto-max-bulk-len", texts.largest_word,
                     "longest key or value of a request"),
      "KEYWAYD_PROTO_MAX_BULK_LEN");
}

void declare_figures(CLI::App& app, Options& options) {
  env(app.add_option("--slowlog-log-slower-than", options.slow_us,
                     "SLOWLOG keeps requests that take at least this many us; 0: all, -1: none"),
      "KEYWAYD_SLOWLOG_LOG_SLOWER_THAN")
      ->check(CLI::Range(std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()));
  env(app.add_option("--slowlog-max-len", options.most_slow, "requests that SLOWLOG keeps"),
      "KEYWAYD_SLOWLOG_MAX_LEN");
  env(app.add_option("--latency-monitor-threshold", options.latency_threshold_ms,
                     "LATENCY keeps commands that take at least this many ms; 0: none"),
      "KEYWAYD_LATENCY_MONITOR_THRESHOLD");
}

void declare_rest(CLI::App& app, Options& options, Texts& texts) {
  env(app.add_option("--workers", options.workers, "threads that serve clients"), "KEYWAYD_WORKERS")
      ->check(CLI::Range(1, 1024));
  env(app.add_option("--fibers", options.fibers,
                     "requests of each worker that can wait for locks at one time"),
      "KEYWAYD_FIBERS")
      ->check(CLI::Range(1, 1024));
  env(app.add_option("--pipeline-order", options.pipeline_order,
                     "slot: requests of one pipeline for keys of different slots may be executed "
                     "in another order, or at the same time, if some of these keys are on other "
                     "hosts; strict: one after the other"),
      "KEYWAYD_PIPELINE_ORDER")
      ->check(CLI::IsMember({"slot", "strict"}));
  env(app.add_option("--poll-us", options.poll_us,
                     "busy-poll up to this many us before sleeping, if the previous wait was that "
                     "short (0 disables)"),
      "KEYWAYD_POLL_US")
      ->check(CLI::Range(0, 1'000'000));
  env(app.add_option("--shutdown-timeout", options.shutdown_timeout_s,
                     "s that clients have, after SIGTERM, to read their replies; 5 s later the "
                     "process ends in any case"),
      "KEYWAYD_SHUTDOWN_TIMEOUT");
  env(app.add_option(
          "--expire-share", options.expire_share,
          "maximum share of one core for removing expired keys in the background, in percent "
          "(0 disables)"),
      "KEYWAYD_EXPIRE_SHARE")
      ->check(CLI::Range(0, 100));
  env(app.add_option("--memory", texts.memory,
                     "memory of the store on each rank, with tables and locks"),
      "KEYWAYD_MEMORY");
  env(app.add_option(
          "--element-bytes", texts.element,
          "bytes of a key and its value, on average: it determines the size of the table in "
          "--memory; with smaller elements a full store is slower, but holds as many bytes"),
      "KEYWAYD_ELEMENT_BYTES");
  env(app.add_option("--transaction-size", texts.transaction,
                     "bytes that a client may queue after MULTI, and watch, in all"),
      "KEYWAYD_TRANSACTION_SIZE");
  env(app.add_option("--lock-policy", options.lock,
                     "default (auto on several hosts, else gbh), auto, or KIND[:LEVER=VALUE,...]"),
      "KEYWAYD_LOCK_POLICY");
  env(app.add_option("--path", options.path,
                     "way of edits to keys on other hosts: onesided, or by the owner, which costs "
                     "one message each way; auto: by the owner where MPI serves messages at once"),
      "KEYWAYD_PATH")
      ->check(CLI::IsMember({"auto", "onesided", "owner"}));
  app.add_option("--metrics-port", options.metrics_port,
                 "TCP port of the Prometheus exporter (default: disabled)")
      ->envname("KEYWAYD_METRICS_PORT");
  env(app.add_option("--metrics-bind", options.metrics_bind,
                     "address of --metrics-port; it needs no password"),
      "KEYWAYD_METRICS_BIND");
  declare_lock_limits(app, options.lock_limits, texts);
  // Not captured: a default from the environment would be shown by --help.
  app.add_option("--requirepass", options.password,
                 "password that clients must send with AUTH or HELLO")
      ->envname("KEYWAYD_REQUIREPASS");
  app.add_option("--requirepass-file", texts.password_file,
                 "the same, from the first line of a file")
      ->envname("KEYWAYD_REQUIREPASS_FILE");
  app.set_config("--config", "", "TOML file of options by their long names");
  app.add_flag("--print-config", texts.print_config, "print all options as such a file and exit")
      ->configurable(false);
}

Status invalid_argument(std::string sentence) {
  return {Code::kInvalidArgument, std::move(sentence)};
}

Status read_password(const std::string& path, std::string& password) {
  std::ifstream file(path);
  if (!file || !std::getline(file, password)) {
    return invalid_argument(fmt::format("--requirepass-file: cannot read {}", path));
  }
  if (password.ends_with('\r')) password.pop_back();
  if (!password.empty()) return {};
  return invalid_argument(fmt::format("--requirepass-file: the first line of {} is empty", path));
}

Status finish_tls(Options& options, const std::string& clients) {
  TlsOptions& tls = options.tls;
  if (options.tls_port == 0) {
    const std::pair<const char*, const std::string*> files[] = {{"--tls-cert", &tls.cert},
                                                                {"--tls-key", &tls.key},
                                                                {"--tls-ca", &tls.ca},
                                                                {"--tls-auth-clients", &clients}};
    for (const auto& [name, text] : files) {
      if (!text->empty()) return invalid_argument(fmt::format("{} needs --tls-port", name));
    }
    return {};
  }
  if (tls.cert.empty() || tls.key.empty())
    return invalid_argument("--tls-port needs --tls-cert and --tls-key");
  if (clients == "optional") {
    tls.clients = TlsClients::kOptional;
  } else if (clients == "yes" || (clients.empty() && !tls.ca.empty())) {
    tls.clients = TlsClients::kYes;
  }
  if (tls.clients == TlsClients::kNo || !tls.ca.empty()) return {};
  return invalid_argument(fmt::format("--tls-auth-clients {} needs --tls-ca", clients));
}

Status finish_size(std::string_view option, const std::string& text, std::uint64_t& bytes) {
  const auto size = program::parse_size(option, text);
  if (size.ok()) bytes = *size;
  return size.status();
}

/// Fills in options from their other form; kInvalidArgument for an error.
Status finish_parsing(Options& options, const Texts& texts) {
  ConnectionLimits& limits = options.limits;
  const std::tuple<const char*, const std::string&, std::uint64_t&> sizes[] = {
      {"--memory", texts.memory, options.memory_bytes},
      {"--element-bytes", texts.element, options.element_bytes},
      {"--lock-memory", texts.lock_memory, options.lock_memory_bytes},
      {"--proto-max-bulk-len", texts.largest_word, limits.word_bytes},
      {"--client-query-buffer-limit", texts.query_buffer, limits.query_bytes},
      {"--client-output-buffer-limit", texts.output_buffer, limits.output_bytes},
      {"--client-output-memory", texts.output_memory, options.output_memory_bytes},
      {"--transaction-size", texts.transaction, options.transaction_bytes}};
  for (const auto& [option, text, bytes] : sizes) {
    if (Status status = finish_size(option, text, bytes); !status.ok()) return status;
  }
  if (Status status = finish_tls(options, texts.tls_clients); !status.ok()) return status;
  if (!texts.password_file.empty()) {
    if (!options.password.empty())
      return invalid_argument(
          "--requirepass-file and --requirepass exclude each other: omit one of them");
    const Status status = read_password(texts.password_file, options.password);
    if (!status.ok()) return status;
  }
  for (const std::string& address : options.bind) {
    const Status status = check_bind(address, !options.password.empty());
    if (!status.ok()) return invalid_argument(fmt::format("--bind: {}", status.message()));
  }
  return {};
}

/// All options as a file of --config, but for the password: only that there is one.
std::string config_of(CLI::App& app) {
  CLI::Option* password = app.get_option("--requirepass");
  const bool given = password->count() != 0 && !password->as<std::string>().empty();
  password->clear();
  std::string text = app.config_to_str(true);
  constexpr std::string_view kNone = "requirepass=";
  const std::size_t at = text.find(fmt::format("\n{}", kNone)) + 1;
  if (given && at != 0) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    text.replace(at, end - at, "# requirepass is set, and not shown");
  }
  return text;
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv) {
  CLI::App app("Serves a Keyway store to Redis clients, over TCP and Unix sockets.", "keywayd");
  Options options;
  Texts texts;
  declare_addresses(app, options, texts);
  declare_job(app, options);
  declare_limits(app, options, texts);
  declare_figures(app, options);
  declare_rest(app, options, texts);
  app.set_version_flag("--version", program::version_line("keywayd"));
  app.footer(kFooter);
  app.get_formatter()->column_width(28);
  if (auto ending = program::ending_of(app, [&] { app.parse(argc, argv); })) return *ending;
  if (const Status status = finish_parsing(options, texts); !status.ok()) {
    return {{}, kExitUsage, {}, std::string(status.message())};
  }
  const auto files = app.get_config_ptr()->as<std::vector<std::string>>();
  if (!files.empty()) options.config_file = files.front();
  if (texts.print_config) return {{}, kExitOk, config_of(app), {}};
  return {std::move(options), kExitOk, {}, {}};
}

}  // namespace keyway::server
