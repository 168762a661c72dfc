// Catalogue: the commands that COMMAND DOCS explains, and kvctl completes and hints at.
//
// *What.* One entry says how a command is called and what it does, in words of our own. A server
// may know other commands: these are sent as they are typed. *Thread safety.* Constant. *Source.*
// Which words a command takes: Redis 7.0, Valkey (IFEQ), and server/commands.
//
// How arguments are written: `key` is a word of the user's; `[...]` may be left out; `a | b` is one
// of both; `...` may come again; capitals are words to be typed as they stand.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace keyway::catalogue {

struct Entry {
  std::string_view name;  // capitals; with a subcommand, one blank between
  std::string_view arguments;
  std::string_view group;
  std::string_view summary;  // one sentence
};

/// The groups, as `help @group` takes them.
std::span<const std::string_view> groups();
/// Every entry, group after group.
std::span<const Entry> all_entries();
/// The entry of these words, of which the first ones are its name in any case: that with a
/// subcommand, else that without. Null when there is none.
const Entry* find_entry(std::span<const std::string_view> words);
/// The entries "NAME subcommand" of a command.
std::vector<const Entry*> subcommands_of(std::string_view name);

// One file each.
std::span<const Entry> string_entries();
std::span<const Entry> key_entries();
std::span<const Entry> server_entries();

}  // namespace keyway::catalogue
