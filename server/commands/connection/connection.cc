// PING, ECHO, QUIT, SELECT, AUTH, HELLO, RESET, TIME.

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "keyway/kvstore/resp/numbers.h"
#include "keyway/locks/base/words.h"
#include "keyway/server/commands/connection/client_name.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/secrets.h"

namespace keyway::server {
namespace {

constexpr std::string_view kWrongPassword =
    "WRONGPASS invalid username-password pair or user is disabled.";

/// There is one user, "default"; without a password it takes any.
bool may_enter(const Service& service, std::string_view user, std::string_view guess) {
  return user == "default" && service.password.is(guess);
}

void reply_hello(const Call& call) {
  call.out.map(7);
  call.out.bulk("server");
  call.out.bulk("redis");
  call.out.bulk("version");
  call.out.bulk(kLikeRedis);
  call.out.bulk("proto");
  call.out.integer(static_cast<int>(call.client.version));
  call.out.bulk("id");
  call.out.integer(static_cast<std::int64_t>(call.client.id));
  call.out.bulk("mode");
  call.out.bulk(call.service.mode());
  call.out.bulk("role");
  call.out.bulk("master");
  call.out.bulk("modules");
  call.out.array(0);
}

void set_version(const Call& call, resp::Version version) {
  call.client.version = version;
  if (call.client.info != nullptr) {
    call.client.info->version.store(version, std::memory_order_relaxed);  // a figure by itself
  }
  call.out.set_version(version);
}

/// The options behind HELLO's version, each of which takes effect at once, but for a stranger's
/// name: `name` is set for the caller to give it after the login. False after an error.
bool take_hello_options(const Call& call, std::optional<std::string_view>& name) {
  for (std::size_t i = 2; i < call.count(); ++i) {
    const std::size_t more = call.count() - 1 - i;
    if (is_word(call.word(i), "auth") && more >= 2) {
      if (!may_enter(call.service, call.word(i + 1), call.word(i + 2))) {
        call.error(kWrongPassword);
        return false;
      }
      call.client.authenticated = true;
      i += 2;
    } else if (is_word(call.word(i), "setname") && more >= 1) {
      name = call.word(++i);
      if (!is_name_or_error(call, *name)) return false;
      if (!may_execute(call.client, call.service)) continue;
      name_client(call, *name);
      name.reset();
    } else {
      call.error(fmt::format("ERR Syntax error in HELLO option '{}'", call.word(i)));
      return false;
    }
  }
  return true;
}

void run_ping(const Call& call) {
  if (call.count() > 2) return call.wrong_arity();
  if (call.count() == 1) return call.out.simple("PONG");
  call.out.bulk(call.word(1));
}

void run_echo(const Call& call) { call.out.bulk(call.word(1)); }

void run_quit(const Call& call) {
  call.client.closing = true;
  call.ok();
}

/// There is one database.
void run_select(const Call& call) {
  const auto index = integer_or_error(call, 1);
  if (!index) return;
  if (*index != 0) return call.error("ERR DB index is out of range");
  call.ok();
}

void run_auth(const Call& call) {
  if (call.count() > 3) return call.error(kSyntaxError);
  if (call.count() == 2 && !call.service.password.is_asked_for()) {
    return call.error(
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
  }
  const std::string_view user = call.count() == 2 ? "default" : call.word(1);
  if (!may_enter(call.service, user, call.words.back())) return call.error(kWrongPassword);
  call.client.authenticated = true;
  call.ok();
}

void run_hello(const Call& call) {
  resp::Version version = call.client.version;
  if (call.count() > 1) {
    constexpr std::string_view kNoVersion =
        "ERR Protocol version is not an integer or out of range";
    const auto given = integer_or_error(call, 1, kNoVersion);
    if (!given) return;
    if (*given != 2 && *given != 3) return call.error("NOPROTO unsupported protocol version");
    version = *given == 2 ? resp::Version::kResp2 : resp::Version::kResp3;
  }
  std::optional<std::string_view> name;
  if (!take_hello_options(call, name)) return;
  if (!may_execute(call.client, call.service)) {
    return call.error(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
        "AUTH <user> <pass> option can be used to authenticate the client and select the RESP "
        "protocol version at the same time");
  }
  if (name) name_client(call, *name);
  set_version(call, version);
  reply_hello(call);
}

void run_reset(const Call& call) {
  call.client.transaction.reset();
  name_client(call, "");
  call.client.replies = Client::Replies::kOn;
  leave(call.client, call.service);
  call.client.of_cluster = call.client.by_cluster_port;
  call.client.authenticated = !call.service.password.is_asked_for();
  set_version(call, resp::Version::kResp2);
  call.out.simple("RESET");
}

void run_time(const Call& call) {
  using std::chrono::microseconds;
  const auto now =
      std::chrono::duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  call.out.array(2);
  call.out.bulk(std::to_string(now / 1'000'000));
  call.out.bulk(std::to_string(now % 1'000'000));
}

/// The user's name as well.
void hide_in_auth(std::span<std::string_view> words) { hide(words.subspan(1)); }

/// HELLO's words, as the command itself reads them: a name may be "auth". From the first word on
/// that is not an option, any may be a password.
void hide_in_hello(std::span<std::string_view> words) {
  std::size_t i = 2;
  while (i < words.size()) {
    const std::size_t more = words.size() - 1 - i;
    if (is_word(words[i], "auth") && more >= 2) {
      hide(words.subspan(i + 1, 2));
      i += 3;
    } else if (is_word(words[i], "setname") && more >= 1) {
      i += 2;
    } else {
      return hide(words.subspan(i));
    }
  }
}

constexpr std::uint32_t kAtLogin = kOfClient | kFast | kNoAuth | kAllowBusy;

}  // namespace

CommandRows commands_of_connection_connection() {
  static constexpr auto kRows = checked({
      {.name = "ping",
       .arity = -1,
       .group = Group::kConnection,
       .flags = kFast,
       .run = run_ping,
       .tips = "request_policy:all_shards response_policy:all_succeeded",
       .arguments = "[message]",
       .summary = "Returns PONG, or the message."},
      {.name = "echo",
       .arity = 2,
       .group = Group::kConnection,
       .flags = kLoading | kStale | kFast,
       .run = run_echo,
       .arguments = "message",
       .summary = "Returns the message."},
      {.name = "quit",
       .arity = -1,
       .group = Group::kConnection,
       .flags = kAtLogin | kUnqueued,
       .run = run_quit,
       .summary = "Closes the connection."},
      {.name = "select",
       .arity = 2,
       .group = Group::kConnection,
       .flags = kLoading | kStale | kFast,
       .run = run_select,
       .arguments = "index",
       .summary = "Selects a database; Keyway has number 0 only."},
      {.name = "auth",
       .arity = -2,
       .group = Group::kConnection,
       .flags = kAtLogin,
       .run = run_auth,
       .arguments = "[username] password",
       .summary = "Authenticates the connection. Never enters the history.",
       .hide_secrets = hide_in_auth},
      {.name = "hello",
       .arity = -1,
       .group = Group::kConnection,
       .flags = kAtLogin,
       .run = run_hello,
       .arguments = "[protover [AUTH username password] [SETNAME name]]",
       .summary = "Selects the protocol version and returns information about the server.",
       .hide_secrets = hide_in_hello},
      {.name = "reset",
       .arity = 1,
       .group = Group::kConnection,
       .flags = kAtLogin | kUnqueued,
       .run = run_reset,
       .summary = "Resets the connection to the state of a new one."},
      {.name = "time",
       .arity = 1,
       .group = Group::kServer,
       .flags = kLoading | kStale | kFast,
       .run = run_time,
       .tips = "nondeterministic_output",
       .summary = "Returns the server's time: seconds since 1970, and microseconds."},
  });
  return kRows;
}

}  // namespace keyway::server
