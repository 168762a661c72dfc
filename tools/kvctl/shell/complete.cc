#include "shell/complete.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>

#include "keyway/client/catalogue/syntax.h"
#include "keyway/locks/base/words.h"
#include "shell/builtins.h"
#include "shell/catalogue.h"

namespace keyway::kvctl {

using namespace catalogue;

namespace {

using Words = std::vector<std::string_view>;

/// The words between blanks. Quotes are ignored: they contain values, and words of values are only
/// counted. A repetition in front ("5 INCR n") is skipped.
Words words_of(std::string_view line) {
  Words words;
  char quote = '\0';
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '\0' && c == ' ') {
      inside = false;
      continue;
    }
    if (!inside) words.push_back(line.substr(i, 0));
    inside = true;
    words.back() = {words.back().data(),
                    static_cast<std::size_t>(line.data() + i + 1 - words.back().data())};
    if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    }
  }
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (words.size() > 1 && std::all_of(words[0].begin(), words[0].end(), is_digit)) {
    words.erase(words.begin());
  }
  return words;
}

/// In the case in which the word was begun.
std::string in_case_of(std::string_view begun, std::string_view word) {
  const bool is_lower =
      std::any_of(begun.begin(), begun.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  return is_lower ? in_lower_case(word) : in_capitals(word);
}

std::size_t words_in_name(const Entry& entry) {
  return entry.name.find(' ') == std::string_view::npos ? 1 : 2;
}

std::set<std::string_view> first_words() {
  std::set<std::string_view> names;
  for (const Entry& entry : all_entries()) names.insert(entry.name.substr(0, entry.name.find(' ')));
  for (const Builtin& builtin : builtins()) names.insert(builtin.name);
  return names;
}

/// The arguments of `help`.
std::set<std::string_view> help_words(std::span<const std::string> with_at) {
  std::set<std::string_view> names = first_words();
  names.insert(with_at.begin(), with_at.end());
  return names;
}

std::set<std::string_view> candidates(const Words& before) {
  if (before.empty()) return first_words();
  if (same_word(before[0], "help")) {
    static const std::vector<std::string> at_groups = [] {
      std::vector<std::string> names;
      for (const std::string_view group : groups()) names.push_back(fmt::format("@{}", group));
      return names;
    }();
    if (before.size() == 1) return help_words(at_groups);
  }
  const std::size_t name_at = same_word(before[0], "help") ? 1 : 0;
  std::set<std::string_view> found;
  if (before.size() == name_at + 1) {
    for (const Entry* sub : subcommands_of(before[name_at])) {
      found.insert(sub->name.substr(sub->name.find(' ') + 1));
    }
    if (!found.empty() || name_at != 0) return found;
  }
  const Entry* entry = find_entry(before);
  if (entry == nullptr) return found;
  const auto after = std::span(before).subspan(words_in_name(*entry));
  const auto pieces = pieces_after(entry->arguments, after);
  if (!pieces) return found;
  for (const std::string_view literal : next_literals(*pieces)) found.insert(literal);
  return found;
}

std::string hint_of_container(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Entry* sub : subcommands_of(name)) {
    names.push_back(sub->name.substr(sub->name.find(' ') + 1));
  }
  return fmt::format("{}", fmt::join(names, " | "));
}

}  // namespace

Completion complete(std::string_view line) {
  Words words = words_of(line);
  std::string_view begun = line.substr(line.size());
  if (!words.empty() && words.back().data() + words.back().size() == line.data() + line.size()) {
    begun = words.back();
    words.pop_back();
  }
  Completion completion{.from = line.size() - begun.size(), .words = {}};
  for (const std::string_view word : candidates(words)) {
    if (!begins_with(word, begun)) continue;
    completion.words.push_back(word.starts_with('@') ? std::string(word) : in_case_of(begun, word));
  }
  return completion;
}

std::string hint(std::string_view line) {
  const Words words = words_of(line);
  if (words.empty()) return {};
  const Entry* entry = find_entry(words);
  if (entry == nullptr) {
    if (words.size() > 1) return {};
    const auto all = builtins();
    const auto builtin = std::find_if(
        all.begin(), all.end(), [&](const Builtin& b) { return same_word(b.name, words[0]); });
    return builtin != all.end() ? std::string(builtin->arguments) : hint_of_container(words[0]);
  }
  const auto pieces =
      pieces_after(entry->arguments, std::span(words).subspan(words_in_name(*entry)));
  return pieces ? fmt::format("{}", fmt::join(*pieces, " ")) : std::string();
}

}  // namespace keyway::kvctl
