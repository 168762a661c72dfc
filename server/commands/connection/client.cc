// CLIENT ...

#include <fmt/core.h>

#include <algorithm>

#include "keyway/locks/base/clock.h"
#include "keyway/server/commands/connection/client_line.h"
#include "keyway/server/commands/connection/client_name.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/help.h"

namespace keyway::server {
namespace {

std::string_view flags_of(const ClientInfo& info, std::int64_t queued) {
  if (queued >= 0) return "x";
  return info.block.load(std::memory_order_relaxed) == BlockState::kNone ? "N" : "b";
}

void run_client_id(const Call& call) {
  call.out.integer(static_cast<std::int64_t>(call.client.id));
}

void run_client_getname(const Call& call) {
  if (call.client.name.empty()) return call.out.null();
  call.out.bulk(call.client.name);
}

void run_client_setname(const Call& call) {
  if (!is_name_or_error(call, call.word(2))) return;
  name_client(call, call.word(2));
  call.ok();
}

void run_client_info(const Call& call) {
  const Client& client = call.client;
  const std::int64_t queued =
      call.in_transaction() ? static_cast<std::int64_t>(client.transaction->size()) : -1;
  ClientInfo info;
  info.id = client.id;
  info.address = client.address;
  info.local_address = client.local_address;
  info.descriptor = client.descriptor;
  info.since_ms = client.since_ms;
  info.name = client.name;
  info.last = call.in_transaction() ? client.transaction->executed_by() : &call.command;
  info.version = client.version;
  call.out.verbatim("txt", client_line(info, wall_ms(), steady_ns(), queued));
}

void run_client_help(const Call& call) {
  reply_help(call, "CLIENT",
             {"GETNAME",
              "    Return the name of the current connection.",  //
              "ID",
              "    Return the ID of the current connection.",  //
              "INFO",
              "    Return information about the current client connection.",
              "KILL <ip:port>",
              "    Kill connection made from <ip:port>.",
              "KILL <option> <value> [<option> <value> [...]]",
              "    Kill connections. Options are:",
              "    * ADDR (<ip:port>|<unixsocket>:0)",
              "      Kill connections made from the specified address",
              "    * LADDR (<ip:port>|<unixsocket>:0)",
              "      Kill connections made to specified local address",
              "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
              "      Kill connections by type.",
              "    * USER <username>",
              "      Kill connections authenticated by <username>.",
              "    * SKIPME (YES|NO)",
              "      Skip killing current connection (default: yes).",
              "LIST [options ...]",
              "    Return information about client connections. Options:",
              "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
              "      Return clients of specified type.",
              "UNPAUSE",
              "    Stop the current client pause, resuming traffic.",
              "PAUSE <timeout> [WRITE|ALL]",
              "    Suspend all, or just write, clients for <timeout> milliseconds.",
              "REPLY (ON|OFF|SKIP)",
              "    Control the replies sent to the current connection.",
              "SETNAME <name>",
              "    Assign the name <name> to the current connection.",
              "UNBLOCK <clientid> [TIMEOUT|ERROR]",
              "    Unblock the specified blocked client.",
              "NO-EVICT (ON|OFF)",
              "    Protect current client connection from eviction."});
}

}  // namespace

void name_client(const Call& call, std::string_view name) {
  call.client.name = name;
  if (call.client.info != nullptr) call.service.clients.rename(*call.client.info, name);
}

bool is_name_or_error(const Call& call, std::string_view name) {
  if (name.size() > kMaxClientNameBytes) {
    call.error(
        fmt::format("ERR Client names cannot be longer than {} bytes.", kMaxClientNameBytes));
    return false;
  }
  const bool printable =
      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!printable) {
    call.error("ERR Client names cannot contain spaces, newlines or special characters.");
    return false;
  }
  return true;
}

std::string client_line(const ClientInfo& info, std::uint64_t now_ms, std::uint64_t now_ns,
                        std::int64_t queued) {
  constexpr std::uint64_t kMsPerS = 1000;
  constexpr std::uint64_t kNsPerS = 1'000'000'000;
  const auto since = [](std::uint64_t then, std::uint64_t now) {
    return then == 0 || now < then ? 0 : now - then;
  };
  // relaxed: figures by themselves.
  const Command* last = info.last.load(std::memory_order_relaxed);
  return fmt::format(
      "id={} addr={} laddr={} fd={} name={} age={} idle={} flags={} db=0 sub=0 psub=0 ssub=0 "
      "multi={} qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll={} omem={} "
      "tot-mem=0 events=r cmd={} user=default redir=-1 resp={}\n",
      info.id, info.address, info.local_address, info.descriptor, info.name,
      since(info.since_ms, now_ms) / kMsPerS,
      since(info.seen_ns.load(std::memory_order_relaxed), now_ns) / kNsPerS, flags_of(info, queued),
      queued, info.waiting_pieces.load(std::memory_order_relaxed),
      info.waiting_bytes.load(std::memory_order_relaxed), last == nullptr ? "NULL" : last->name,
      static_cast<int>(info.version.load(std::memory_order_relaxed)));
}

CommandRows commands_of_connection_client() {
  static constexpr auto kRows = checked({
      {.name = "client", .arity = -2, .group = Group::kConnection, .flags = kContainer},
      {.name = "client|getname",
       .arity = 2,
       .group = Group::kConnection,
       .flags = kOfClient,
       .run = run_client_getname,
       .summary = "Returns the name of this connection."},
      {.name = "client|help",
       .arity = 2,
       .group = Group::kConnection,
       .flags = kLoading | kStale,
       .run = run_client_help},
      {.name = "client|id",
       .arity = 2,
       .group = Group::kConnection,
       .flags = kOfClient,
       .run = run_client_id,
       .summary = "Returns the number of this connection."},
      {.name = "client|info",
       .arity = 2,
       .group = Group::kConnection,
       .flags = kOfClient,
       .run = run_client_info,
       .tips = "nondeterministic_output",
       .summary = "Returns information about this connection."},
      {.name = "client|setname",
       .arity = 3,
       .group = Group::kConnection,
       .flags = kOfClient,
       .run = run_client_setname,
       .arguments = "name",
       .summary = "Sets the name of this connection."},
  });
  return kRows;
}

}  // namespace keyway::server
