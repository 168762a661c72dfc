// COMMAND ...: the table's information on the commands.

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "keyway/locks/base/words.h"
#include "keyway/locks/fabric/time_slice.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/help.h"
#include "keyway/server/commands/engine/table.h"
#include "keyway/server/commands/keys/glob.h"

namespace keyway::server {
namespace {

using Words = std::vector<std::string_view>;

Words split(std::string_view text, char by) {
  Words words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(by), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

Words flags_of(const Command& command) {
  constexpr std::pair<std::uint32_t, std::string_view> kNames[] = {
      {kWrite, "write"},      {kReadOnly, "readonly"},   {kDenyOom, "denyoom"},
      {kAdmin, "admin"},      {kNoScript, "noscript"},   {kBlocking, "blocking"},
      {kLoading, "loading"},  {kStale, "stale"},         {kSkipSlowLog, "skip_slowlog"},
      {kFast, "fast"},        {kNoAuth, "no_auth"},      {kNoAsyncLoading, "no_async_loading"},
      {kNoMulti, "no_multi"}, {kAllowBusy, "allow_busy"}};
  Words words;
  for (const auto& [flag, name] : kNames) {
    if ((command.flags & flag) != 0) words.push_back(name);
  }
  return words;
}

/// The category that is not from a flag. A container has no function, and no category.
std::string_view category_of(const Command& command) {
  if (command.run == nullptr) return {};
  if (command.category == Category::kKeyspace) return "@keyspace";
  if (command.category == Category::kConnection) return "@connection";
  switch (command.group) {
    case Group::kString: return "@string";
    case Group::kBitmap: return "@bitmap";
    case Group::kGeneric: return "@keyspace";
    case Group::kTransactions: return "@transaction";
    case Group::kConnection: return "@connection";
    case Group::kLocks:
    case Group::kServer:
    case Group::kCluster: break;
  }
  return {};
}

/// In the order of Redis.
Words categories_of(const Command& command) {
  Words words;
  const auto add = [&](bool holds, std::string_view word) {
    if (holds) words.push_back(word);
  };
  const std::string_view category = category_of(command);
  add(category == "@keyspace", category);
  add((command.flags & kReadOnly) != 0, "@read");
  add((command.flags & kWrite) != 0, "@write");
  add(category == "@string" || category == "@bitmap", category);
  add((command.flags & kAdmin) != 0, "@admin");
  add(true, (command.flags & kFast) != 0 ? "@fast" : "@slow");
  add((command.flags & (kDangerous | kAdmin)) != 0, "@dangerous");
  add((command.flags & kBlocking) != 0, "@blocking");
  add(category == "@connection" || category == "@transaction", category);
  return words;
}

void reply_words(resp::ReplyWriter& out, const Words& words) {
  out.set(words.size());
  for (const std::string_view word : words) out.simple(word);
}

/// The places of keys: from `first` on, up to `last`, which counts from `first` unless it is
/// negative.
void reply_key_places(resp::ReplyWriter& out, int first, int last, int step) {
  out.bulk("begin_search");
  out.map(2);
  out.bulk("type");
  out.bulk("index");
  out.bulk("spec");
  out.map(1);
  out.bulk("index");
  out.integer(first);
  out.bulk("find_keys");
  out.map(2);
  out.bulk("type");
  out.bulk("range");
  out.bulk("spec");
  out.map(3);
  out.bulk("lastkey");
  out.integer(last);
  out.bulk("keystep");
  out.integer(step);
  out.bulk("limit");
  out.integer(0);
}

void reply_key_specifications(resp::ReplyWriter& out, const Command& command) {
  const Words parts = split(command.keys.access, ';');
  const int first = command.keys.first;
  const int last = command.keys.last;
  out.set(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool rest = i + 1 == parts.size();
    const int from = first + static_cast<int>(i);
    out.map(command.keys.note.empty() ? 3 : 4);
    if (!command.keys.note.empty()) {
      out.bulk("notes");
      out.bulk(command.keys.note);
    }
    out.bulk("flags");
    reply_words(out, split(parts[i], ' '));
    reply_key_places(out, from, !rest ? 0 : last < 0 ? last : last - from, command.keys.step);
  }
}

void reply_info(resp::ReplyWriter& out, const Command& command) {
  out.array(10);
  out.bulk(command.name);
  out.integer(command.arity);
  reply_words(out, flags_of(command));
  out.integer(command.keys.first);
  out.integer(command.keys.last);
  out.integer(command.keys.step);
  reply_words(out, categories_of(command));
  const Words tips = split(command.tips, ' ');
  out.set(tips.size());
  for (const std::string_view tip : tips) out.bulk(tip);
  reply_key_specifications(out, command);
  out.set(command.subcommands.size());
  for (const Command& sub : command.subcommands) reply_info(out, sub);
}

void reply_all(const Call& call) {
  const auto commands = all_commands();
  call.out.array(commands.size());
  for (const Command& command : commands) reply_info(call.out, command);
}

/// The commands and subcommands that `takes` holds for, in the order of the table.
template <class Takes>
void reply_names(const Call& call, Takes&& takes) {
  Words names;
  std::size_t seen = 0;
  const auto look_at = [&](const Command& command) {
    fabric::this_fiber::yield_if_due(seen++);
    if (takes(command)) names.push_back(command.name);
  };
  for (const Command& command : all_commands()) {
    look_at(command);
    for (const Command& sub : command.subcommands) look_at(sub);
  }
  call.out.array(names.size());
  for (const std::string_view name : names) call.out.bulk(name);
}

/// The row of the request that follows COMMAND GETKEYS. Null: the reply says why not.
const Command* command_with_keys(const Call& call, std::span<const std::string_view> words) {
  const auto reply_error = [&](std::string_view sentence) {
    call.error(sentence);
    return nullptr;
  };
  const Command* command = find_command(words[0]);
  if (command != nullptr && words.size() > 1 && (command->flags & kContainer) != 0) {
    command = find_subcommand(*command, words[1]);
  }
  if (command == nullptr) return reply_error("ERR Invalid command specified");
  if (!has_keys(*command)) return reply_error("ERR The command has no key arguments");
  if (!fits_arity(*command, words.size())) {
    return reply_error("ERR Invalid number of arguments specified for command");
  }
  return command;
}

Words keys_of(const Command& command, std::span<const std::string_view> words) {
  Words keys;
  for_each_key(command, words, [&](std::string_view key) {
    keys.push_back(key);
    return true;
  });
  return keys;
}

void run_command(const Call& call) { reply_all(call); }

void run_command_count(const Call& call) {
  call.out.integer(static_cast<std::int64_t>(all_commands().size()));
}

void run_command_info(const Call& call) {
  if (call.count() == 2) return reply_all(call);
  call.out.array(call.count() - 2);
  for (const std::string_view name : call.words.subspan(2)) {
    const Command* command = find_full_command(name);
    if (command == nullptr) {
      call.out.null();
    } else {
      reply_info(call.out, *command);
    }
  }
}

void run_command_list(const Call& call) {
  const auto everything = [](const Command&) { return true; };
  if (call.count() == 2) return reply_names(call, everything);
  if (call.count() != 5 || !is_word(call.word(2), "filterby")) return call.error(kSyntaxError);
  const std::string_view wanted = call.word(4);
  if (is_word(call.word(3), "module")) {
    return reply_names(call, [](const Command&) { return false; });
  }
  if (is_word(call.word(3), "aclcat")) {
    return reply_names(call, [&](const Command& command) {
      const Words categories = categories_of(command);
      return std::any_of(categories.begin(), categories.end(), [&](std::string_view category) {
        return is_word(wanted, category.substr(1));
      });
    });
  }
  if (is_word(call.word(3), "pattern")) {
    return reply_names(
        call, [&](const Command& command) { return glob_match(wanted, command.name, true); });
  }
  call.error(kSyntaxError);
}

void run_command_getkeys(const Call& call) {
  const auto words = call.words.subspan(2);
  const Command* command = command_with_keys(call, words);
  if (command == nullptr) return;
  const Words keys = keys_of(*command, words);
  call.out.array(keys.size());
  for (const std::string_view key : keys) call.out.bulk(key);
}

void run_command_getkeysandflags(const Call& call) {
  const auto words = call.words.subspan(2);
  const Command* command = command_with_keys(call, words);
  if (command == nullptr) return;
  const Words keys = keys_of(*command, words);
  const Words parts =
      split(command->access_by ? command->access_by(words) : command->keys.access, ';');
  call.out.array(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    call.out.array(2);
    call.out.bulk(keys[i]);
    reply_words(call.out, split(parts[std::min(i, parts.size() - 1)], ' '));
  }
}

void run_command_help(const Call& call) {
  reply_help(call, "COMMAND",
             {"(no subcommand)", "    Return details about all Redis commands.",  //
              "COUNT", "    Return the total number of commands in this Redis server.", "LIST",
              "    Return a list of all commands in this Redis server.",
              "INFO [<command-name> ...]", "    Return details about multiple Redis commands.",
              "    If no command names are given, documentation details for all",
              "    commands are returned.", "DOCS [<command-name> ...]",
              "    Return documentation details about multiple Redis commands.",
              "    If no command names are given, documentation details for all",
              "    commands are returned.", "GETKEYS <full-command>",
              "    Return the keys from a full Redis command.", "GETKEYSANDFLAGS <full-command>",
              "    Return the keys and the access flags from a full Redis command."});
}

}  // namespace

CommandRows commands_of_admin_command() {
  static constexpr auto kRows = checked({
      {.name = "command",
       .arity = -1,
       .group = Group::kServer,
       .category = Category::kConnection,
       .flags = kLoading | kStale | kContainer,
       .run = run_command,
       .tips = "nondeterministic_output_order"},
      {.name = "command|count",
       .arity = 2,
       .group = Group::kServer,
       .category = Category::kConnection,
       .flags = kLoading | kStale,
       .run = run_command_count,
       .summary = "Returns the number of commands of the server."},
      {.name = "command|getkeys",
       .arity = -4,
       .group = Group::kServer,
       .category = Category::kConnection,
       .flags = kLoading | kStale,
       .run = run_command_getkeys,
       .arguments = "command [argument ...]",
       .summary = "Extracts the keys from the words of a command."},
      {.name = "command|getkeysandflags",
       .arity = -4,
       .group = Group::kServer,
       .category = Category::kConnection,
       .flags = kLoading | kStale,
       .run = run_command_getkeysandflags,
       .arguments = "command [argument ...]",
       .summary = "Extracts the keys from the words of a command, with the accesses to each."},
      {.name = "command|help",
       .arity = 2,
       .group = Group::kServer,
       .category = Category::kConnection,
       .flags = kLoading | kStale,
       .run = run_command_help},
      {.name = "command|info",
       .arity = -2,
       .group = Group::kServer,
       .category = Category::kConnection,
       .flags = kLoading | kStale,
       .run = run_command_info,
       .tips = "nondeterministic_output_order",
       .arguments = "[command ...]",
       .summary = "Returns the arity, flags and keys of commands, for client libraries."},
      {.name = "command|list",
       .arity = -2,
       .group = Group::kServer,
       .category = Category::kConnection,
       .flags = kLoading | kStale,
       .run = run_command_list,
       .tips = "nondeterministic_output_order",
       .arguments = "[FILTERBY MODULE | ACLCAT | PATTERN name]",
       .summary = "Returns the names of the server's commands."},
  });
  return kRows;
}

}  // namespace keyway::server
