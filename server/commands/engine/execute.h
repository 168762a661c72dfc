// Executes one request of a Redis client on a session of the store.
//
// *What.* A request is words, the first of them the command's name in any case. The reply is
// appended through a writer: exactly one per request, at once, or by resume() where the request
// waits for something (KW.LOCK). A client whose request waits has no other one executed meanwhile.
// *Thread safety.* A Client and its Session belong to one thread or fiber at a time. Of a Service,
// settings, clients and all figures are anybody's; the rest is only read, and who changes it does
// so while nobody executes.
// *Invariants.*
//   E1  A request has one reply, whatever its words are; what is wrong with them is said in the
//       sentence of Redis. But that of a web page (POST, Host:) has none, nor has SHUTDOWN: the
//       connection closes. And CLIENT REPLY leaves replies out.
//   E2  A write of one key is one atomic step on the store, and so is a transaction. A command
//       that failed has changed nothing.
//   E3  What a connection keeps from one request to the next is bounded: its name, memory for one
//       value of moderate length, and its transaction (X3).
//   E4  Where the process has no memory left for a request, its reply is an OOM error, no lock is
//       kept, and the connection goes on. Only the reply of a write that was done may be lost so.
// *Source.* Redis 7.0.15: what is taken, refused and answered. README.md lists the deviations.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "keyway/client/client.h"
#include "keyway/kvstore/resp/reply_writer.h"
#include "keyway/server/commands/admin/facts.h"
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

/// What a connection is, as far as commands know.
struct Client {
  std::uint64_t id = 0;
  std::string name;                    // CLIENT SETNAME
  std::string address, local_address;  // "127.0.0.1:1234"
  int descriptor = -1;                 // of its socket, for CLIENT INFO
  bool tls = false;                    // it came over TLS
  bool by_cluster_port = false;        // it came to a port that only CLUSTER tells
  bool of_cluster = false;             // it asks each rank for what is that rank's (cluster.cc)
  std::uint64_t since_ms = 0;          // wall clock, for CLIENT INFO
  resp::Version version = resp::Version::kResp2;
  bool authenticated = true;  // false: only AUTH, HELLO, QUIT, RESET
  bool closing = false;       // after QUIT: close when the replies are out

  std::unique_ptr<Transaction> transaction;  // null unless it watches, or after MULTI
  ClientLocks locks;                         // named locks that it holds, or waits for
  std::uint64_t paused_until_ns = 0;         // its next request is held up; 0: it is not

  std::string value;        // what is read or built: used again, so that reads do not allocate
  std::uint64_t drawn = 0;  // state of RANDOMKEY's draws

  /// CLIENT REPLY. kSkipNext: the next request has no reply either.
  enum class Replies : std::uint8_t { kOn, kOff, kSkipNext, kSkip };
  Replies replies = Replies::kOn;

  std::shared_ptr<ClientCard> card;        // as others see it; null: nobody does
  WorkerStatistics* statistics = nullptr;  // of the worker that it belongs to; null: none
  bool uncounted = false;                  // what it executes runs once more (transactions.cc)
  std::uint64_t came_ns = 0;  // when what is executed had come, by steady_ns(); 0: not known
};

/// Where a client's calls are counted; null: nowhere.
inline WorkerStatistics* counts_of(const Client& client) {
  return client.uncounted ? nullptr : client.statistics;
}

/// Commands and subcommands: their numbers are below.
std::size_t command_numbers();

/// What all connections share.
struct Service {
  Password password;
  std::uint16_t port = 6379;
  std::uint64_t transaction_bytes = 64ULL << 20;  // X3, of one connection
  LockService* locks = nullptr;                   // null: there are no named locks
  ClusterView cluster;
  Facts facts;
  Settings settings;
  Statistics statistics{command_numbers()};
  SlowLog slow_log;
  LatencyEvents latency_events;
  VolumeFigures volumes;
  ClientRegistry clients;
  Pause pause;
  std::function<void()> shut_down;  // as SIGTERM; may be called by any thread. Empty: it may not

  /// As HELLO and INFO name it.
  std::string_view mode() const { return cluster.enabled ? "cluster" : "standalone"; }
};

struct Command;

/// What has become of a request: its reply has been appended, or is to come; or it has not begun,
/// for there is a pause (Client::paused_until_ns), and is to be executed later.
enum class Outcome : std::uint8_t { kReplied, kParked, kPaused };

/// Executes one request. `words` has at least one word.
Outcome execute(Client& client, Session& session, Service& service,
                std::span<const std::string_view> words, resp::ReplyWriter& out);
/// The same of words whose first named a command, or none: null.
Outcome execute(Client& client, Session& session, Service& service, const Command* named,
                std::span<const std::string_view> words, resp::ReplyWriter& out);

// Of a client whose request was parked:
/// When it is to be resumed at the latest, by the steady clock; sooner when Waker::wake() says so.
inline std::uint64_t resume_at_ns(const Client& client) {
  return client.locks.wait ? client.locks.wait->look_ns : client.paused_until_ns;
}
/// Looks whether what the request waits for has come, or its time is over.
Outcome resume(Client& client, Service& service, resp::ReplyWriter& out);

/// Of a client whose request was held up: it is so no more, until it is executed.
void end_pause(Client& client, Service& service);

/// Gives up what its request waits for, where it does; that has no reply then.
void stop_waiting(Client& client, Service& service);

/// Whether a client may do as it likes: it has given the password, or none is asked for any more.
inline bool may_execute(const Client& client, const Service& service) {
  return client.authenticated || !service.password.is_asked_for();
}

/// Whether a client that has gone leaves something behind that leave() is to take back.
inline bool holds_something(const Client& client) {
  return client.locks.wait.has_value() || !client.locks.held.empty();
}
/// Of a client that has gone. It has no request any more.
void leave(Client& client, Service& service);

}  // namespace keyway::server
