// keywayd: the server.
#include <fmt/core.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "job.h"
#include "keyway/client/program/primary_rank.h"
#include "keyway/server/commands/admin/own_usage.h"
#include "keyway/server/metrics/exporter.h"
#include "keyway/server/net/listener.h"
#include "keyway/server/net/process_memory.h"
#include "keyway/server/net/tls.h"
#include "lock_store.h"
#include "make_server_info.h"
#include "options.h"
#include "periodic.h"

namespace keyway::server {
namespace {

constexpr std::chrono::milliseconds kVolumesApart{1000};
/// For the requests that run when the clients' time is over: the longest single ones take seconds.
constexpr std::chrono::seconds kGrace{5};
/// For the other ranks to end as well, and for the kernel to take the memory back.
constexpr std::chrono::seconds kSettle{10};

/// The reader may have gone: then the sentence is lost.
void say(std::FILE* to, const std::string& sentence) {
  std::fwrite(sentence.data(), 1, sentence.size(), to);
  std::fflush(to);
}

/// `is_primary`: ranks that fail alike say so once.
int fail(const Status& status, bool is_primary) {
  if (is_primary) say(stderr, fmt::format("keywayd: {}\n", status.message()));
  return status == Code::kInvalidArgument ? kExitUsage : kExitUnavailable;
}

Result<Store> open_store(const Options& options) {
  StoreOptions store;
  store.memory_bytes = options.memory_bytes;
  store.element_bytes = options.element_bytes;
  store.lock = options.lock;
  store.sessions = options.workers * options.fibers + 1;  // the session that inspects the volumes
  return Store::open(store_uri(options), store);
}

/// As many files as the clients need, or as many clients as there may be files.
void allow_files(Options& options, bool is_primary) {
  constexpr std::uint64_t kOurOwn = 64;
  rlimit limit{};
  options.clients_limit = options.listener.most_clients;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const std::uint64_t needed = options.listener.most_clients + kOurOwn;
  const std::uint64_t could_be = std::min<std::uint64_t>(limit.rlim_cur, kMaxClients + kOurOwn);
  options.clients_limit = static_cast<std::uint32_t>(std::max(needed, could_be) - kOurOwn);
  if (limit.rlim_cur >= needed) return;
  limit.rlim_cur = std::min<rlim_t>(needed, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= needed) return;
  options.listener.most_clients =
      static_cast<std::uint32_t>(limit.rlim_cur > 2 * kOurOwn ? limit.rlim_cur - kOurOwn : kOurOwn);
  options.clients_limit = options.listener.most_clients;
  if (!is_primary) return;
  say(stderr, fmt::format("keywayd: this user may open {} files: at most {} clients at one time\n",
                          limit.rlim_cur, options.listener.most_clients));
}

Status make_workers(Store& store, const Options& options, Service& service,
                    std::atomic<std::uint32_t>& clients, OutputMemory& output,
                    std::vector<std::unique_ptr<Worker>>& workers) {
  for (std::uint32_t i = 0; i < options.workers; ++i) {
    std::vector<Session> sessions;
    for (std::uint32_t fiber = 0; fiber < options.fibers; ++fiber) {
      auto session = store.session();
      if (!session.ok()) return session.status();
      sessions.push_back(std::move(*session));
    }
    workers.push_back(
        std::make_unique<Worker>(std::move(sessions), service, options.poll_us, clients, output));
  }
  return {};
}

/// A port of the TCP addresses; where it is 0, one that is free, the same for all of them.
Status listen_on_port(Listener& listener, const Options& options, std::uint16_t& port,
                      const Entrance& entrance) {
  for (const std::string& address : options.bind) {
    Status status = listener.listen_on_tcp(address, port, entrance);
    if (!status.ok()) return status;
    if (port == 0) port = listener.newest_port();
  }
  return {};
}

/// The ports that only CLUSTER reports, beside those that clients are given. A store of one process
/// is the same to all clients.
Status listen_for_cluster(Listener& listener, Options& options, bool alone, TlsContext* tls) {
  if (alone || options.cluster == "off") {
    options.cluster_port = options.cluster_tls_port = 0;
    return {};
  }
  if (options.port != 0) {
    Status status = listen_on_port(listener, options, options.cluster_port,
                                   {.tls = nullptr, .of_cluster = true});
    if (!status.ok()) return status;
  }
  if (tls == nullptr) return {};
  return listen_on_port(listener, options, options.cluster_tls_port,
                        {.tls = tls, .of_cluster = true});
}

/// Writes the ports to `options`.
Status listen(Listener& listener, Options& options, bool alone, std::unique_ptr<TlsContext>& tls) {
  if (options.tls_port != 0) {
    auto made = tls_context(options.tls);
    if (!made.ok()) return made.status();
    tls = std::move(*made);
  }
  if (options.port != 0 || tls == nullptr) {
    Status status = listen_on_port(listener, options, options.port, {});
    if (!status.ok()) return status;
  }
  if (tls != nullptr) {
    Status status = listen_on_port(listener, options, options.tls_port,
                                   {.tls = tls.get(), .of_cluster = false});
    if (!status.ok()) return status;
  }
  if (Status status = listen_for_cluster(listener, options, alone, tls.get()); !status.ok()) {
    return status;
  }
  if (options.unix_socket.empty()) return {};
  const Status status = listener.listen_on_path(options.unix_socket);
  return status.ok() ? status
                     : Status(status.code(), fmt::format("--unixsocket: {}", status.message()));
}

void say_ready(const Options& options) {
  for (const std::string& address : options.bind) {
    if (options.port != 0) {
      say(stdout, fmt::format("keywayd: ready on {}:{}\n", address, options.port));
    }
    if (options.tls_port != 0) {
      say(stdout, fmt::format("keywayd: ready on {}:{}, with TLS\n", address, options.tls_port));
    }
  }
}

/// The limits that may change while the server runs, and what it says of itself.
void fill_service(Service& service, const Options& options, const Store& store,
                  const Store& lock_store, std::uint16_t port) {
  service.port = port;
  service.settings.most_clients = options.listener.most_clients;
  service.settings.clients_limit = options.clients_limit;
  const ConnectionLimits& limits = options.limits;
  service.settings.strict_pipelines = options.pipeline_order == "strict";
  service.settings.word_bytes = limits.word_bytes;
  service.settings.query_bytes = limits.query_bytes;
  service.settings.output_bytes = limits.output_bytes;
  service.settings.idle_s = limits.idle_s;
  service.settings.login_s = limits.login_s;
  service.settings.output_s = limits.output_s;
  service.settings.keepalive_s = limits.keepalive_s;
  service.settings.shutdown_s = options.shutdown_timeout_s;
  service.slow_log.set_threshold_us(options.slow_us);
  service.slow_log.set_most_entries(options.most_slow);
  service.latency_events.set_threshold_ms(options.latency_threshold_ms);
  service.server_info = make_server_info(options, store);
  service.rank_waits = [&store, &lock_store](std::uint32_t rank) {
    RankWaits both = store.rank_waits(rank);
    return both += lock_store.rank_waits(rank);
  };
}

/// Does nothing if no metrics are wanted.
Status export_metrics(const Service& service, const Options& options,
                      std::unique_ptr<Exporter>& exporter) {
  if (!options.metrics_port) return {};
  auto made = Exporter::listen(service, options.metrics_bind, *options.metrics_port);
  if (made.ok()) exporter = std::move(*made);
  return made.status();
}

int serve(Options options) {
  hold_signals();
  const bool is_primary = !is_of_job(options) || program::is_primary_rank();
  allow_files(options, is_primary);
  prepare_memory();
  auto store = open_store(options);
  if (!store.ok()) return fail(store.status(), is_primary);
  auto lock_store = open_lock_store(options);
  if (!lock_store.ok()) return fail(lock_store.status(), is_primary);
  LockService locks(*lock_store, lock_store->process(), options.lock_limits);
  Service service;
  service.password.set(options.password);
  service.transaction_bytes = options.transaction_bytes;
  service.locks = &locks;
  std::atomic<std::uint32_t> clients{0};
  OutputMemory output(options.output_memory_bytes);
  std::vector<std::unique_ptr<Worker>> workers;
  std::unique_ptr<TlsContext> tls;
  asio::io_context events(1);
  Listener listener(events, workers, clients, options.listener, service);
  Status ready = take_own_addresses(options, store->process());
  if (ready.ok()) ready = make_workers(*store, options, service, clients, output, workers);
  Result<Session> looks = store->session();
  if (ready.ok()) ready = looks.status();
  if (ready.ok()) ready = listen(listener, options, store->processes() == 1, tls);
  if (ready.ok() && options.expire_share != 0) {
    workers[0]->sweep(store->process(), options.expire_share);
  }
  fill_service(service, options, *store, *lock_store, listener.port());
  if (looks.ok()) look_at_volumes(*looks, service.server_info, service.volumes);
  std::unique_ptr<Exporter> exporter;
  if (ready.ok()) ready = export_metrics(service, options, exporter);
  auto cluster = exchange_addresses(*store, options, ready);
  if (!cluster.ok()) return fail(cluster.status(), is_primary);
  service.cluster = std::move(*cluster);
  service.shut_down = [&store] { store->ask_all_to_end(); };
  Periodic pace(events, [&] {
    service.statistics.pace(steady_ns());
    return Pace::kApart;
  });
  Periodic volumes(events, [&] {
    look_at_volumes(*looks, service.server_info, service.volumes);
    return kVolumesApart;
  });
  Periodic mailbox(events, [&] { return poll_mailbox(locks); });
  const Ending ending(events, *store, [&] {
    const std::chrono::seconds patience(service.settings.shutdown_s);
    end_within(patience + kGrace,
               "keywayd: requests still run {} s after the shutdown began: it stops "
               "without their replies");
    pace.stop();
    volumes.stop();
    mailbox.stop();
    listener.stop();
    locks.end();
    service.pause.end();
    for (const auto& worker : workers) {
      worker->drain(patience);
    }
  });
  pace.start();
  volumes.start();
  if (store->processes() > 1) mailbox.start();
  listener.start();
  std::vector<std::jthread> threads;
  for (const auto& worker : workers) {
    threads.emplace_back([&worker] {
      pthread_setname_np(pthread_self(), "worker");  // for top -H and its like
      worker->run();
    });
  }
  say_ready(options);
  events.run();
  threads.clear();  // joins: all connections have gone
  end_within(
      kSettle,
      "keywayd: all requests are answered, but the other ranks have not stopped within {} s: it "
      "stops without them");
  return kExitOk;
}

}  // namespace

/// Reports an unusable command line. In a job it may be the failure of one rank only, and the
/// others wait for it in MPI, so it joins them to report it.
int report_bad_command_line(const Parsed& parsed) {
  Status why(Code::kInvalidArgument, parsed.error);
  if (program::under_launcher()) why = Store::decline("mpi:", std::move(why));
  fail(why, program::is_primary_rank());
  return parsed.exit_code;
}

int main_of(const Parsed& parsed) {
  if (parsed.options) return serve(*parsed.options);
  if (parsed.exit_code != kExitOk) return report_bad_command_line(parsed);
  if (program::is_primary_rank()) fmt::print("{}", parsed.out);
  return kExitOk;
}

}  // namespace keyway::server

int main(int argc, char** argv) {
  return keyway::server::main_of(keyway::server::parse_command_line(argc, argv));
}
