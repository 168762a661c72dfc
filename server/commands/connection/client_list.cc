// CLIENT LIST, KILL, REPLY, NO-EVICT.

#include <fmt/core.h>

#include <algorithm>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/words.h"
#include "keyway/server/commands/connection/client_line.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

constexpr std::string_view kNoSuchClient = "ERR No such client";

/// Whether there are clients of a type: all are normal ones. Nothing for an unknown type.
std::optional<bool> is_type_of_all(std::string_view word) {
  if (is_word(word, "normal")) return true;
  for (const std::string_view other : {"slave", "replica", "pubsub", "master"}) {
    if (is_word(word, other)) return false;
  }
  return std::nullopt;
}

void unknown_type(const Call& call, std::string_view word) {
  call.error(fmt::format("ERR Unknown client type '{}'", word));
}

/// The clients that CLIENT KILL ends: those that meet all given conditions.
struct Killed {
  std::optional<std::uint64_t> id;
  std::optional<std::string_view> address, local_address;
  bool of_type = true;
  bool of_user = true;
  bool skip_me = true;

  bool takes(const ClientInfo& info, std::uint64_t me) const {
    return (!id || *id == info.id) && (!address || *address == info.address) &&
           (!local_address || *local_address == info.local_address) && of_type && of_user &&
           !(skip_me && info.id == me);
  }
};

bool take_id(const Call& call, std::size_t i, Killed& killed) {
  constexpr std::string_view kNoId = "ERR client-id should be greater than 0";
  const auto id = integer_or_error(call, i, kNoId);
  if (!id) return false;
  if (*id < 1) {
    call.error(kNoId);
    return false;
  }
  killed.id = static_cast<std::uint64_t>(*id);
  return true;
}

bool take_type(const Call& call, std::size_t i, Killed& killed) {
  const auto all = is_type_of_all(call.word(i));
  if (!all) {
    unknown_type(call, call.word(i));
    return false;
  }
  killed.of_type = *all;
  return true;
}

bool take_user(const Call& call, std::size_t i) {
  if (call.word(i) == "default") return true;
  call.error(fmt::format("ERR No such user '{}'", call.word(i)));
  return false;
}

bool take_skip_me(const Call& call, std::size_t i, Killed& killed) {
  if (is_word(call.word(i), "yes") || is_word(call.word(i), "no")) {
    killed.skip_me = is_word(call.word(i), "yes");
    return true;
  }
  call.error(kSyntaxError);
  return false;
}

/// One option and its value, from the i-th word on. False after an error.
bool take_kill_option(const Call& call, std::size_t i, Killed& killed) {
  const std::string_view option = call.word(i);
  if (is_word(option, "id")) return take_id(call, i + 1, killed);
  if (is_word(option, "type")) return take_type(call, i + 1, killed);
  if (is_word(option, "user")) return take_user(call, i + 1);
  if (is_word(option, "skipme")) return take_skip_me(call, i + 1, killed);
  if (is_word(option, "addr")) {
    killed.address = call.word(i + 1);
  } else if (is_word(option, "laddr")) {
    killed.local_address = call.word(i + 1);
  } else {
    call.error(kSyntaxError);
    return false;
  }
  return true;
}

/// How many there were. Oneself is closed when the reply is out.
std::int64_t kill(const Call& call, const Killed& killed) {
  const std::uint64_t me = call.client.id;
  const auto those =
      call.service.clients.those([&](const ClientInfo& info) { return killed.takes(info, me); });
  for (const auto& info : those) {
    if (info->id == me) {
      call.client.closing = true;
    } else {
      info->close();
    }
  }
  return static_cast<std::int64_t>(those.size());
}

/// The ids from the i-th word on.
std::optional<std::vector<std::uint64_t>> ids_or_error(const Call& call, std::size_t i) {
  std::vector<std::uint64_t> ids;
  for (; i < call.count(); ++i) {
    const auto id = integer_or_error(call, i, "ERR Invalid client ID");
    if (!id) return std::nullopt;
    ids.push_back(static_cast<std::uint64_t>(*id));
  }
  return ids;
}

template <class Takes>
void reply_list(const Call& call, Takes&& takes) {
  const std::uint64_t now_ms = wall_ms();
  const std::uint64_t now_ns = steady_ns();
  std::string text;
  call.service.clients.each([&](const ClientInfo& info) {
    if (takes(info)) text += client_line(info, now_ms, now_ns);
  });
  call.out.verbatim("txt", text);
}

void run_client_list(const Call& call) {
  if (call.count() == 2) return reply_list(call, [](const ClientInfo&) { return true; });
  if (call.count() == 4 && is_word(call.word(2), "type")) {
    const auto all = is_type_of_all(call.word(3));
    if (!all) return unknown_type(call, call.word(3));
    return reply_list(call, [&](const ClientInfo&) { return *all; });
  }
  if (call.count() < 4 || !is_word(call.word(2), "id")) return call.error(kSyntaxError);
  const auto ids = ids_or_error(call, 3);
  if (!ids) return;
  reply_list(call, [&](const ClientInfo& info) {
    return std::find(ids->begin(), ids->end(), info.id) != ids->end();
  });
}

void run_client_kill(const Call& call) {
  if (call.count() == 3) {  // the old form: an address, which may be one's own
    const std::int64_t ended = kill(call, {.address = call.word(2), .skip_me = false});
    return ended == 0 ? call.error(kNoSuchClient) : call.ok();
  }
  Killed killed;
  for (std::size_t i = 2; i < call.count(); i += 2) {
    if (i + 1 == call.count()) return call.error(kSyntaxError);
    if (!take_kill_option(call, i, killed)) return;
  }
  call.out.integer(kill(call, killed));
}

/// execute() leaves out the replies.
void run_client_reply(const Call& call) {
  Client& client = call.client;
  if (is_word(call.word(2), "on")) {
    client.replies = Client::Replies::kOn;
    call.ok();
  } else if (is_word(call.word(2), "off")) {
    client.replies = Client::Replies::kOff;
  } else if (is_word(call.word(2), "skip")) {
    if (client.replies != Client::Replies::kOff) client.replies = Client::Replies::kSkipNext;
  } else {
    call.error(kSyntaxError);
  }
}

/// No client is ever evicted.
void run_client_no_evict(const Call& call) {
  const bool known = is_word(call.word(2), "on") || is_word(call.word(2), "off");
  return known ? call.ok() : call.error(kSyntaxError);
}

}  // namespace

CommandRows commands_of_connection_client_list() {
  static constexpr auto kRows = checked({
      {.name = "client|kill",
       .arity = -3,
       .group = Group::kConnection,
       .flags = kOfConfig,
       .run = run_client_kill,
       .arguments = "[address] [ID id] [TYPE NORMAL] [USER name] [ADDR address] [LADDR address] "
                    "[SKIPME YES | NO]",
       .summary = "Closes connections: one by its address, or all that match."},
      {.name = "client|list",
       .arity = -2,
       .group = Group::kConnection,
       .flags = kOfConfig,
       .run = run_client_list,
       .tips = "nondeterministic_output",
       .arguments = "[TYPE NORMAL] [ID id [id ...]]",
       .summary = "Lists the connections, one per line."},
      {.name = "client|no-evict",
       .arity = 3,
       .group = Group::kConnection,
       .flags = kOfConfig,
       .run = run_client_no_evict,
       .arguments = "ON | OFF",
       .summary = "Keeps this connection open when others are closed to free memory."},
      {.name = "client|reply",
       .arity = 3,
       .group = Group::kConnection,
       .flags = kOfClient,
       .run = run_client_reply,
       .arguments = "ON | OFF | SKIP",
       .summary = "Enables or disables replies to this connection; with OFF, kvctl waits until its "
                  "timeout."},
  });
  return kRows;
}

}  // namespace keyway::server
