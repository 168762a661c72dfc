// Executes one request of a Redis client on a session of the store.
//
// *What.* A request is words, the first of them the command's name in any case. The reply is
// appended through a writer: exactly one per request, at once, or by resume() if the request waits
// for something (KW.LOCK). While a client's request waits, no other request of it is executed.
// *Thread safety.* An Executor belongs to one thread or fiber at a time; a Client, too, but for
// execute_beside(), which several fibers of one thread may call. In a Service, any thread may use
// settings, clients and all figures; the rest is only read, and is changed only while no request
// executes.
// *Invariants.*
//   E1  Every request has one reply; errors have the sentence of Redis. Exceptions: a request of a
//       web page (POST, Host:) and SHUTDOWN have none, and the connection closes. CLIENT REPLY can
//       turn replies off.
//   E2  A write of one key is one atomic step on the store, and so is a transaction. A command
//       that failed has changed nothing.
//   E3  What a connection keeps from one request to the next is bounded: its name, and its
//       transaction (X3). So is what an executor keeps: memory for one value of moderate length.
//   E4  If the process has no memory left for a request, its reply is an OOM error, no lock is
//       kept, and the connection continues. Only the reply of a completed write may be lost this
//       way.
// *Source.* Redis 7.0.15, for accepted and refused requests and replies. README.md lists the
// deviations.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "keyway/client/client.h"
#include "keyway/kvstore/resp/reply_writer.h"
#include "keyway/server/commands/admin/server_info.h"
#include "keyway/server/commands/admin/settings.h"
#include "keyway/server/commands/cluster/cluster_view.h"
#include "keyway/server/commands/connection/client_registry.h"
#include "keyway/server/commands/connection/password.h"
#include "keyway/server/commands/connection/pause.h"
#include "keyway/server/commands/transactions/transaction.h"
#include "keyway/server/named_locks/client_locks.h"
#include "keyway/server/statistics/latency_events.h"
#include "keyway/server/statistics/slow_log.h"
#include "keyway/server/statistics/statistics.h"
#include "keyway/server/statistics/volume_figures.h"

namespace keyway::server {

/// The state of a connection that commands use.
struct Client {
  std::uint64_t id = 0;
  std::string name;                    // CLIENT SETNAME
  std::string address, local_address;  // "127.0.0.1:1234"
  int descriptor = -1;                 // its socket's, for CLIENT INFO
  bool tls = false;                    // it came over TLS
  bool by_cluster_port = false;        // it uses a port that only CLUSTER returns
  bool of_cluster = false;             // it asks each rank for what is that rank's (cluster.cc)
  std::uint64_t since_ms = 0;          // wall clock, for CLIENT INFO
  resp::Version version = resp::Version::kResp2;
  bool authenticated = true;  // false: only AUTH, HELLO, QUIT, RESET
  bool closing = false;       // after QUIT: close when the replies are out

  std::unique_ptr<Transaction> transaction;  // null unless it watches, or after MULTI
  ClientLocks locks;                         // named locks that it holds, or waits for
  std::uint64_t paused_until_ns = 0;         // its next request waits until then; 0: it does not

  std::uint64_t drawn = 0;  // state of RANDOMKEY's draws

  /// CLIENT REPLY. kSkipNext: the next request has no reply either.
  enum class Replies : std::uint8_t { kOn, kOff, kSkipNext, kSkip };
  Replies replies = Replies::kOn;

  std::shared_ptr<ClientInfo> info;        // as others see it; null: it is not registered
  WorkerStatistics* statistics = nullptr;  // of its worker; null: none
  bool uncounted = false;                  // its commands run once more (transactions.cc)
  std::uint64_t came_ns = 0;  // when what is executed had come, by steady_ns(); 0: not known
};

/// The counters of a client's calls; null: none.
inline WorkerStatistics* counts_of(const Client& client) {
  return client.uncounted ? nullptr : client.statistics;
}

/// Commands and subcommands: their numbers are below.
std::size_t command_numbers();

/// State that all connections share.
struct Service {
  Password password;
  std::uint16_t port = 6379;
  std::uint64_t transaction_bytes = 64ULL << 20;  // X3, of one connection
  LockService* locks = nullptr;                   // null: there are no named locks
  ClusterView cluster;
  ServerInfo server_info;
  Settings settings;
  Statistics statistics{command_numbers()};
  SlowLog slow_log;
  LatencyEvents latency_events;
  VolumeFigures volumes;
  ClientRegistry clients;
  Pause pause;
  std::function<void()> shut_down;  // as SIGTERM; may be called by any thread. Empty: it may not
  // Store::rank_waits(), and callable by any thread, too.
  std::function<RankWaits(std::uint32_t rank)> rank_waits = [](std::uint32_t) {
    return RankWaits();
  };

  /// As HELLO and INFO name it.
  std::string_view mode() const { return cluster.enabled ? "cluster" : "standalone"; }
};

struct Command;

/// The outcome of a request: its reply has been appended, or will come; or it has not begun because
/// of a pause (Client::paused_until_ns), and must be executed later.
enum class Outcome : std::uint8_t { kReplied, kParked, kPaused };

/// What requests are executed with, one after the other.
struct Executor {
  Session session;
  std::string value;  // CommandSession::value()
};

/// Executes one request. `words` has at least one word.
Outcome execute(Client& client, Executor& executor, Service& service,
                std::span<const std::string_view> words, resp::ReplyWriter& out);
/// The same, with the command that the first word names, or null if it names none.
[[gnu::hot]] Outcome execute(Client& client, Executor& executor, Service& service,
                             const Command* named, std::span<const std::string_view> words,
                             resp::ReplyWriter& out);

/// Whether requests of the client may be executed at the same time, if they are independent: not in
/// a transaction, nor without replies, nor while clients are paused.
bool may_execute_beside(const Client& client, const Service& service);
/// Executes one of them, on its own executor and writer.
void execute_beside(Client& client, Executor& executor, Service& service, const Command& command,
                    std::span<const std::string_view> words, resp::ReplyWriter& out);

/// For a client with a parked request: the latest time of its resumption, by the steady clock;
/// sooner if Waker::wake() says so.
inline std::uint64_t resume_at_ns(const Client& client) {
  return client.locks.wait ? client.locks.wait->look_ns : client.paused_until_ns;
}
/// Checks whether the event that the request waits for has come, or its time is over.
Outcome resume(Client& client, Service& service, resp::ReplyWriter& out);

/// For a client with a paused request: ends the pause until it is executed.
void end_pause(Client& client, Service& service);

/// Cancels the wait of its request, if it waits; the request then has no reply.
void stop_waiting(Client& client, Service& service);

/// Whether a client may execute commands: it has given the password, or none is required any more.
inline bool may_execute(const Client& client, const Service& service) {
  return client.authenticated || !service.password.is_asked_for();
}

/// Whether a client that has gone still holds something that leave() must release.
inline bool holds_something(const Client& client) {
  return client.locks.wait.has_value() || !client.locks.held.empty();
}
/// For a client that has gone. It has no request any more.
void leave(Client& client, Service& service);

}  // namespace keyway::server
