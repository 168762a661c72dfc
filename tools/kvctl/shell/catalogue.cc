#include "shell/catalogue.h"

#include "keyway/locks/base/words.h"

namespace keyway::kvctl {
namespace {

constexpr Entry kEntries[] = {
#include "keyway/kvctl/command_words.inc"
};

/// In the order of the entries, which have them one after the other.
const std::vector<std::string_view>& group_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list;
    for (const Entry& entry : kEntries) {
      if (list.empty() || list.back() != entry.group) list.push_back(entry.group);
    }
    return list;
  }();
  return names;
}

/// Whether an entry's name is these words: the first, or the first two.
bool is_named(const Entry& entry, std::span<const std::string_view> words) {
  const std::size_t blank = entry.name.find(' ');
  if (blank == std::string_view::npos) return same_word(entry.name, words[0]);
  return words.size() > 1 && same_word(entry.name.substr(0, blank), words[0]) &&
         same_word(entry.name.substr(blank + 1), words[1]);
}

}  // namespace

std::span<const std::string_view> groups() { return group_names(); }
std::span<const Entry> all_entries() { return kEntries; }

const Entry* find_entry(std::span<const std::string_view> words) {
  if (words.empty()) return nullptr;
  for (const Entry& entry : kEntries) {
    if (is_named(entry, words)) return &entry;
  }
  return nullptr;
}

std::vector<const Entry*> subcommands_of(std::string_view name) {
  std::vector<const Entry*> found;
  for (const Entry& entry : kEntries) {
    const std::size_t blank = entry.name.find(' ');
    if (blank != std::string_view::npos && same_word(entry.name.substr(0, blank), name)) {
      found.push_back(&entry);
    }
  }
  return found;
}

}  // namespace keyway::kvctl
