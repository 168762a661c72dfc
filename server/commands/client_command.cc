// CLIENT ...

#include <fmt/format.h>

#include <algorithm>

#include "keyway/locks/base/clock.h"
#include "keyway/server/commands/client_name.h"
#include "keyway/server/commands/command.h"
#include "keyway/server/commands/handlers.h"
#include "keyway/server/commands/help.h"

namespace keyway::server {

bool set_name_or_error(const Call& call, std::string_view name) {
  const bool printable =
      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!printable) {
    call.error("ERR Client names cannot contain spaces, newlines or special characters.");
    return false;
  }
  call.client.name = name;
  return true;
}

void run_client_id(const Call& call) {
  call.out.integer(static_cast<std::int64_t>(call.client.id));
}

void run_client_getname(const Call& call) {
  if (call.client.name.empty()) return call.out.null();
  call.out.bulk(call.client.name);
}

void run_client_setname(const Call& call) {
  if (set_name_or_error(call, call.word(2))) call.ok();
}

/// The fields of Redis, in its order. Of buffers and memory nothing is known here.
void run_client_info(const Call& call) {
  const Client& client = call.client;
  const std::uint64_t now = wall_ms();
  const std::uint64_t age =
      client.since_ms == 0 || now < client.since_ms ? 0 : now - client.since_ms;
  call.out.verbatim(
      "txt",
      fmt::format(
          "id={} addr={} laddr={} fd={} name={} age={} idle=0 flags={} db=0 sub=0 "
          "psub=0 ssub=0 multi={} qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 "
          "rbp=0 obl=0 oll=0 omem=0 tot-mem=0 events=r cmd={} user=default redir=-1 "
          "resp={}\n",
          client.id, client.address, client.local_address, client.descriptor, client.name,
          age / 1000, call.in_transaction() ? "x" : "N",
          call.in_transaction() ? static_cast<std::int64_t>(client.transaction->size()) : -1,
          call.in_transaction() ? "exec" : call.command.name, static_cast<int>(client.version)));
}

void run_client_help(const Call& call) {
  reply_help(call, "CLIENT",
             {"GETNAME", "    Return the name of the current connection.",  //
              "ID", "    Return the ID of the current connection.",         //
              "INFO", "    Return information about the current client connection.",
              "SETNAME <name>", "    Assign the name <name> to the current connection."});
}

}  // namespace keyway::server
