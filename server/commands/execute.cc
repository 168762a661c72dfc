#include "keyway/server/commands/execute.h"

#include <fmt/format.h>

#include <new>

#include "keyway/locks/base/give_back.h"
#include "keyway/server/commands/arguments.h"
#include "keyway/server/commands/command.h"

namespace keyway::server {
namespace {

constexpr std::size_t kMostKept = 1 << 20;  // bytes that a connection keeps for the next value
constexpr std::size_t kMostShown = 128;     // bytes of a wrong name, and of its arguments

/// As printf's "%.*s" shows bytes: up to a zero.
std::string_view shown(std::string_view word, std::size_t most) {
  word = word.substr(0, most);
  return word.substr(0, word.find('\0'));
}

void reply_unknown(std::span<const std::string_view> words, resp::ReplyWriter& out) {
  std::string arguments;
  for (const std::string_view word : words.subspan(1)) {
    if (arguments.size() >= kMostShown) break;
    arguments += fmt::format("'{}' ", shown(word, kMostShown - arguments.size()));
  }
  out.error(fmt::format("ERR unknown command '{}', with args beginning with: {}",
                        shown(words[0], kMostShown), arguments));
}

void reply_unknown_subcommand(const Command& command, std::string_view word,
                              resp::ReplyWriter& out) {
  std::string name(command.name);
  for (char& c : name) c = static_cast<char>(c - 'a' + 'A');
  out.error(
      fmt::format("ERR unknown subcommand '{}'. Try {} HELP.", shown(word, kMostShown), name));
}

/// What a browser sends that a page of somebody else's has told to: nothing is read behind it. As
/// Redis does.
bool is_web_page(std::string_view word) {
  return is_option(word, "post") || is_option(word, "host:");
}

/// The command, or its subcommand, that the words name, of which the first named `command`; where
/// there is none, says so and returns null.
const Command* command_or_error(Client& client, const Command* command,
                                std::span<const std::string_view> words, resp::ReplyWriter& out) {
  if (command == nullptr) {
    if (is_web_page(words[0])) {
      client.closing = true;
    } else {
      reply_unknown(words, out);
    }
    return nullptr;
  }
  if (words.size() > 1 && !subcommands_of(*command).empty()) {
    const Command* sub = find_subcommand(*command, words[1]);
    if (sub == nullptr) {
      reply_unknown_subcommand(*command, words[1], out);
      return nullptr;
    }
    command = sub;
  }
  if (!fits_arity(*command, words.size())) {
    reply_wrong_arity(out, command->name);
    return nullptr;
  }
  return command;
}

/// E4: the one place where a request meets the end of memory.
void run(const Command& command, const Call& call) {
  const std::size_t before = call.out.size();
  try {
    command.run(call);
  } catch (const std::bad_alloc&) {
    give_back(call.client.value, 0);
    call.out.take_back(before);
    call.out.error(kOutOfMemory);
  }
}

}  // namespace

void execute(Client& client, Session& session, Service& service,
             std::span<const std::string_view> words, resp::ReplyWriter& out) {
  KW_DCHECK(!words.empty());
  execute(client, session, service, find_command(words[0]), words, out);
}

void execute(Client& client, Session& session, Service& service, const Command* named,
             std::span<const std::string_view> words, resp::ReplyWriter& out) {
  const Command* command = command_or_error(client, named, words, out);
  if (command == nullptr) return;
  if (!client.authenticated && (command->flags & kNoAuth) == 0) {
    return out.error("NOAUTH Authentication required.");
  }
  CommandSession outside(session);
  run(*command, {client, outside, service, *command, words, out});
  if (client.value.capacity() > kMostKept) give_back(client.value, 0);
}

}  // namespace keyway::server
