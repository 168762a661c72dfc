// COMMAND DOCS: what people are to know of commands, as shells show it.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "keyway/client/catalogue/arguments.h"
#include "keyway/client/catalogue/catalogue.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/handlers.h"

namespace keyway::server {
namespace {

using catalogue::Argument;
using catalogue::Type;

std::vector<std::string_view> words_of(const Command& command) {
  const std::size_t bar = command.name.find('|');
  if (bar == std::string_view::npos) return {command.name};
  return {command.name.substr(0, bar), command.name.substr(bar + 1)};
}

/// Which key specification the keys among a command's arguments have, one after the other.
class KeyPlaces {
 public:
  explicit KeyPlaces(const Command& command)
      : has_keys_(server::has_keys(command)),
        last_(static_cast<int>(std::count(command.access.begin(), command.access.end(), ';'))) {}

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

/// Of one that the catalogue does not have: a family of subcommands, or the HELP of one.
std::string_view group_of(std::string_view family) {
  const auto members = catalogue::subcommands_of(family);
  return members.empty() ? "server" : members.front()->group;
}

void reply_docs(resp::ReplyWriter& out, const Command& command) {
  const auto words = words_of(command);
  const catalogue::Entry* entry = catalogue::find_entry(words);
  const auto arguments =
      entry ? catalogue::arguments_of(entry->arguments) : std::vector<Argument>();
  const auto subcommands = subcommands_of(command);
  out.map(2U + !arguments.empty() + !subcommands.empty());
  out.bulk("summary");
  out.bulk(entry              ? entry->summary
           : words.size() > 1 ? "Lists the subcommands."
                              : "Has subcommands.");
  out.bulk("group");
  out.bulk(entry ? entry->group : group_of(words.front()));
  if (!arguments.empty()) {
    KeyPlaces keys(command);
    out.bulk("arguments");
    reply_arguments(out, arguments, keys);
  }
  if (subcommands.empty()) return;
  out.bulk("subcommands");
  out.map(subcommands.size());
  for (const Command& sub : subcommands) {
    out.bulk(sub.name);
    reply_docs(out, sub);
  }
}

}  // namespace

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

}  // namespace keyway::server
