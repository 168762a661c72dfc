// The texts of `help`.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <iterator>

#include "keyway/locks/base/words.h"
#include "shell/builtins.h"
#include "shell/catalogue.h"
#include "shell/repl.h"

namespace keyway::kvctl {

namespace {

std::string entry_text(const Entry& entry) {
  return fmt::format("\n  {}{}{}\n  summary: {}\n  group: {}\n", entry.name,
                     entry.arguments.empty() ? "" : " ", entry.arguments, entry.summary,
                     entry.group);
}

std::string shell_text() {
  std::string text =
      "kvctl sends each line to the server and prints the reply.\n\n"
      "  Tab completes commands and their options; Ctrl-R searches the history.\n"
      "  \"Quotes\" keep blanks and support \\n, \\t, \\xff; a number in front repeats a command.\n"
      "  Ctrl-C stops the running command, or clears the line; on an empty line it exits the "
      "shell.\n"
      "  :set nohints hides the hints, :set hints shows them.\n\nCommands of the shell itself:\n\n";
  for (const Builtin& builtin : builtins()) {
    fmt::format_to(std::back_inserter(text), "  {:<26} {}\n",
                   fmt::format("{} {}", builtin.name, builtin.arguments), builtin.summary);
  }
  fmt::format_to(std::back_inserter(text), "\nCommand groups, for help @group: {}\n",
                 fmt::join(groups(), ", "));
  return text;
}

std::string group_text(std::string_view group) {
  std::string text;
  for (const Entry& entry : all_entries()) {
    if (same_word(entry.group, group)) text += entry_text(entry);
  }
  if (text.empty()) {
    return fmt::format("There is no group {}; there are {}.\n", group, fmt::join(groups(), ", "));
  }
  return text + '\n';
}

}  // namespace

std::string help_text(const std::vector<std::string>& about) {
  if (about.empty()) return shell_text();
  if (about[0].starts_with('@')) return group_text(std::string_view(about[0]).substr(1));
  const std::vector<std::string_view> words(about.begin(), about.end());
  std::string text;
  if (const Entry* entry = find_entry(words)) text = entry_text(*entry);
  if (words.size() == 1) {
    for (const Entry* sub : subcommands_of(words[0])) text += entry_text(*sub);
    for (const Builtin& builtin : builtins()) {
      if (!same_word(builtin.name, words[0])) continue;
      fmt::format_to(std::back_inserter(text), "\n  {} {}\n  summary: {}\n  group: the shell\n",
                     builtin.name, builtin.arguments, builtin.summary);
    }
  }
  if (!text.empty()) return text + '\n';
  return fmt::format("kvctl has no help for {}; the server may still support it.\n",
                     fmt::join(about, " "));
}

}  // namespace keyway::kvctl
