#include "keyway/server/commands/engine/execute.h"

#include <fmt/core.h>

#include <new>
#include <optional>

#include "keyway/locks/base/clear_and_shrink.h"
#include "keyway/locks/base/words.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/table.h"

namespace keyway::server {
namespace {

constexpr std::size_t kMaxKept = 1 << 20;  // bytes that an executor keeps for the next value
constexpr std::size_t kMaxShown = 128;     // bytes of a wrong name, and of its arguments

/// As printf's "%.*s" shows bytes: up to a zero.
std::string_view shown(std::string_view word, std::size_t most) {
  word = word.substr(0, most);
  return word.substr(0, word.find('\0'));
}

void reply_unknown(std::span<const std::string_view> words, resp::ReplyWriter& out) {
  std::string arguments;
  for (const std::string_view word : words.subspan(1)) {
    if (arguments.size() >= kMaxShown) break;
    arguments += fmt::format("'{}' ", shown(word, kMaxShown - arguments.size()));
  }
  out.error(fmt::format("ERR unknown command '{}', with args beginning with: {}",
                        shown(words[0], kMaxShown), arguments));
}

void reply_unknown_subcommand(const Command& command, std::string_view word,
                              resp::ReplyWriter& out) {
  std::string name(command.name);
  for (char& c : name) c = static_cast<char>(c - 'a' + 'A');
  out.error(fmt::format("ERR unknown subcommand '{}'. Try {} HELP.", shown(word, kMaxShown), name));
}

/// A request that a browser sends for a foreign web page: nothing after it is read. As Redis does.
bool is_web_page(std::string_view word) { return is_word(word, "post") || is_word(word, "host:"); }

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
  if (words.size() > 1 && !command->subcommands.empty()) {
    const Command* sub = find_subcommand(*command, words[1]);
    if (sub == nullptr) {
      reply_unknown_subcommand(*command, words[1], out);
      return nullptr;
    }
    command = sub;
  }
  return command;
}

/// E4: the only place that handles a request's lack of memory. False if memory was lacking.
template <class Body>
bool has_memory(Executor& executor, resp::ReplyWriter& out, Body&& body) {
  const std::size_t before = out.mark();
  try {
    body();
    return true;
  } catch (const std::bad_alloc&) {
    clear_and_shrink(executor.value, 0);
    out.back_to(before);
    out.error(kOutOfMemory);
    return false;
  }
}

bool after_multi(const Client& client) {
  return client.transaction != nullptr && client.transaction->is_open();
}

/// Says why a command does not run. A transaction that it was to be part of will not run either,
/// and one that it was to execute ends.
void reject_command(Client& client, const Command& command, std::string_view sentence,
                    resp::ReplyWriter& out) {
  if ((command.flags & kRunsQueue) != 0) {
    client.transaction.reset();
    if (sentence.starts_with("ERR ")) sentence.remove_prefix(4);
    return out.error(fmt::format("EXECABORT Transaction discarded because of: {}", sentence));
  }
  if (after_multi(client)) client.transaction->mark_aborted();
  out.error(sentence);
}

/// Why a command does not run at all.
std::optional<std::string> reason_against(const Client& client, const Service& service,
                                          const Command& command,
                                          std::span<const std::string_view> words) {
  if (!fits_arity(command, words.size())) return wrong_arity(command.name);
  if ((command.flags & kNoAuth) != 0 || may_execute(client, service)) return std::nullopt;
  return "NOAUTH Authentication required.";
}

/// After MULTI.
void queue(Client& client, const Service& service, const Command& command,
           std::span<const std::string_view> words, resp::ReplyWriter& out) {
  if ((command.flags & kNoMulti) != 0) {
    return reject_command(client, command, "ERR Command not allowed inside a transaction", out);
  }
  if (!client.transaction->add(command, words, service.transaction_bytes)) {
    return reject_command(
        client, command,
        fmt::format("ERR the transaction takes more than {} bytes (--transaction-size)",
                    service.transaction_bytes),
        out);
  }
  out.simple("QUEUED");
}

bool writes(const Client& client, const Command& command) {
  if ((command.flags & kRunsQueue) == 0 || !after_multi(client)) {
    return (command.flags & kWrite) != 0;
  }
  for (const Transaction::Queued& queued : client.transaction->queued()) {
    if ((queued.command->flags & kWrite) != 0) return true;
  }
  return false;
}

/// CLIENT PAUSE. Clients that cannot wait are not paused.
bool must_pause(Client& client, Service& service, const Command& command) {
  if (service.pause.kind() == Pause::Kind::kNone || client.locks.waker == nullptr) [[likely]]
    return false;
  if (!service.pause.must_wait(writes(client, command), client.id, *client.locks.waker,
                               client.paused_until_ns)) {
    return false;
  }
  if (client.info) client.info->block.store(BlockState::kPaused, std::memory_order_relaxed);
  return true;
}

/// Says why a command does not run at all, if it does not.
bool is_refused(Client& client, const Service& service, const Command& command,
                std::span<const std::string_view> words, resp::ReplyWriter& out) {
  const auto why = reason_against(client, service, command, words);
  if (!why) return false;
  count_rejected(client, command);
  reject_command(client, command, *why, out);
  return true;
}

/// Runs a command outside of a transaction. False if memory was lacking.
[[gnu::hot]] bool run(Client& client, Executor& executor, Service& service, const Command& command,
                      std::span<const std::string_view> words, resp::ReplyWriter& out) {
  CommandSession outside(executor.session, executor.value);
  const bool ran = has_memory(executor, out, [&] {
    call_command({client, outside, service, command, words, out});
  });
  if (executor.value.capacity() > kMaxKept) clear_and_shrink(executor.value, 0);
  return ran;
}

/// Runs a request, queues it, or says why not. False where call_command() has not counted it.
bool run_or_reject(Client& client, Executor& executor, Service& service, const Command* named,
                   std::span<const std::string_view> words, resp::ReplyWriter& out) {
  const Command* command = command_or_error(client, named, words, out);
  if (command == nullptr) {
    if (after_multi(client)) client.transaction->mark_aborted();
    return false;
  }
  if (is_refused(client, service, *command, words, out)) return false;
  if (must_pause(client, service, *command)) return true;
  if (after_multi(client) && (command->flags & kUnqueued) == 0) {
    const auto body = [&] { queue(client, service, *command, words, out); };
    if (!has_memory(executor, out, body)) client.transaction->mark_aborted();
    return false;
  }
  const bool ran = run(client, executor, service, *command, words, out);
  if (!ran) stop_waiting(client, service);
  return ran;
}

}  // namespace

void end_pause(Client& client, Service& service) {
  service.pause.forget(client.id);
  client.paused_until_ns = 0;
  if (client.info) client.info->block.store(BlockState::kNone, std::memory_order_relaxed);
}

void apply_reply_mode(Client& client, resp::ReplyWriter& out, std::size_t mark) {
  using Replies = Client::Replies;
  if (client.replies == Replies::kOn) [[likely]]
    return;
  out.back_to(mark);
  if (client.replies == Replies::kSkip) client.replies = Replies::kOn;
  if (client.replies == Replies::kSkipNext) client.replies = Replies::kSkip;
}

Outcome execute(Client& client, Executor& executor, Service& service,
                std::span<const std::string_view> words, resp::ReplyWriter& out) {
  KW_DCHECK(!words.empty());
  return execute(client, executor, service, find_command(words[0]), words, out);
}

Outcome execute(Client& client, Executor& executor, Service& service, const Command* named,
                std::span<const std::string_view> words, resp::ReplyWriter& out) {
  KW_DCHECK(!client.locks.wait);
  const std::size_t mark = out.mark();
  if (!run_or_reject(client, executor, service, named, words, out)) count_error(client, out, mark);
  if (client.locks.wait) return Outcome::kParked;
  if (client.paused_until_ns != 0) return Outcome::kPaused;
  apply_reply_mode(client, out, mark);
  return Outcome::kReplied;
}

bool may_execute_beside(const Client& client, const Service& service) {
  return !after_multi(client) && client.replies == Client::Replies::kOn &&
         service.pause.kind() == Pause::Kind::kNone;
}

void execute_beside(Client& client, Executor& executor, Service& service, const Command& command,
                    std::span<const std::string_view> words, resp::ReplyWriter& out) {
  const std::size_t mark = out.mark();
  const bool counted = !is_refused(client, service, command, words, out) &&
                       run(client, executor, service, command, words, out);
  if (!counted) count_error(client, out, mark);
}

}  // namespace keyway::server
