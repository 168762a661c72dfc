// COMMAND DOCS: descriptions of commands for people, as shells show them.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "keyway/client/catalogue/arguments.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/table.h"

namespace keyway::server {
namespace {

using catalogue::Argument;
using catalogue::Type;

/// Which key specification the keys among a command's arguments have, one after the other.
class KeyPlaces {
 public:
  explicit KeyPlaces(const Command& command)
      : has_keys_(server::has_keys(command)),
        last_(static_cast<int>(
            std::count(command.keys.access.begin(), command.keys.access.end(), ';'))) {}

  bool has_keys() const { return has_keys_; }
  int take() { return std::min(next_++, last_); }

 private:
  bool has_keys_;
  int last_;
  int next_ = 0;
};

void reply_arguments(resp::ReplyWriter& out, std::span<const Argument> arguments, KeyPlaces& keys);

void reply_argument(resp::ReplyWriter& out, const Argument& argument, KeyPlaces& keys) {
  const bool is_key = keys.has_keys() && argument.type == Type::kKey;
  const bool has_token = !argument.token.empty();
  const bool has_flags = argument.optional || argument.multiple;
  out.map(2 + is_key + has_token + has_flags + !argument.parts.empty());
  out.bulk("name");
  out.bulk(name_of(argument));
  out.bulk("type");
  out.bulk(name_of(is_key || argument.type != Type::kKey ? argument.type : Type::kString));
  if (is_key) {
    out.bulk("key_spec_index");
    out.integer(keys.take());
  }
  if (has_token) {
    out.bulk("token");
    out.bulk(argument.token);
  }
  if (has_flags) {
    out.bulk("flags");
    out.set(argument.optional + argument.multiple);
    if (argument.optional) out.simple("optional");
    if (argument.multiple) out.simple("multiple");
  }
  if (!argument.parts.empty()) {
    out.bulk("arguments");
    reply_arguments(out, argument.parts, keys);
  }
}

void reply_arguments(resp::ReplyWriter& out, std::span<const Argument> arguments, KeyPlaces& keys) {
  out.array(arguments.size());
  for (const Argument& argument : arguments) reply_argument(out, argument, keys);
}

std::string_view summary_of(const Command& command) {
  if (!command.summary.empty()) return command.summary;
  return (command.flags & kContainer) != 0 ? "Has subcommands." : "Lists the subcommands.";
}

void reply_docs(resp::ReplyWriter& out, const Command& command) {
  const auto arguments = catalogue::arguments_of(command.arguments);
  out.map(2U + !arguments.empty() + !command.subcommands.empty());
  out.bulk("summary");
  out.bulk(summary_of(command));
  out.bulk("group");
  out.bulk(name_of(command.group));
  if (!arguments.empty()) {
    KeyPlaces keys(command);
    out.bulk("arguments");
    reply_arguments(out, arguments, keys);
  }
  if (command.subcommands.empty()) return;
  out.bulk("subcommands");
  out.map(command.subcommands.size());
  for (const Command& sub : command.subcommands) {
    out.bulk(sub.name);
    reply_docs(out, sub);
  }
}

void run_command_docs(const Call& call) {
  std::vector<const Command*> documented;
  if (call.count() == 2) {
    for (const Command& command : all_commands()) documented.push_back(&command);
  }
  for (const std::string_view name : call.words.subspan(2)) {
    const Command* command = find_full_command(name);
    if (command != nullptr) documented.push_back(command);
  }
  call.out.map(documented.size());
  for (const Command* command : documented) {
    call.out.bulk(command->name);
    reply_docs(call.out, *command);
  }
}

}  // namespace

CommandRows commands_of_admin_command_docs() {
  static constexpr auto kRows = checked({
      {.name = "command|docs",
       .arity = -2,
       .group = Group::kServer,
       .category = Category::kConnection,
       .flags = kLoading | kStale,
       .run = run_command_docs,
       .tips = "nondeterministic_output_order",
       .arguments = "[command ...]",
       .summary = "Returns the documentation of commands."},
  });
  return kRows;
}

}  // namespace keyway::server
