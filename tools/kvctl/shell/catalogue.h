// Catalogue: the commands that kvctl completes, hints at and explains.
//
// *What.* One entry says how a command is called and what it does. The build generates the entries
// from keywayd's table of commands, so kvctl explains commands without a server. It sends commands
// that have no entry as they are typed.
// *Thread safety.* Constant.
//
// How arguments are written: client/catalogue/syntax.h.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace keyway::kvctl {

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
/// The entry for these words; the first ones are its name in any case. An entry with a subcommand
/// is preferred. Null if there is none.
const Entry* find_entry(std::span<const std::string_view> words);
/// The entries "NAME subcommand" of a command.
std::vector<const Entry*> subcommands_of(std::string_view name);

}  // namespace keyway::kvctl
