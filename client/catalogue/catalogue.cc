#include "keyway/client/catalogue/catalogue.h"

#include <algorithm>
#include <array>

#include "keyway/locks/base/words.h"

namespace keyway::catalogue {
namespace {

constexpr std::array<std::string_view, 8> kGroups = {
    "string", "bitmap", "generic", "transactions", "locks", "connection", "server", "cluster"};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = [] {
    std::vector<Entry> list;
    for (const auto part : {string_entries(), key_entries(), server_entries()}) {
      list.insert(list.end(), part.begin(), part.end());
    }
    const auto place = [](const Entry& entry) {
      return std::find(kGroups.begin(), kGroups.end(), entry.group);
    };
    std::stable_sort(list.begin(), list.end(),
                     [&](const Entry& a, const Entry& b) { return place(a) < place(b); });
    return list;
  }();
  return all;
}

/// Whether an entry's name is these words: the first, or the first two.
bool is_named(const Entry& entry, std::span<const std::string_view> words) {
  const std::size_t blank = entry.name.find(' ');
  if (blank == std::string_view::npos) return same_word(entry.name, words[0]);
  return words.size() > 1 && same_word(entry.name.substr(0, blank), words[0]) &&
         same_word(entry.name.substr(blank + 1), words[1]);
}

}  // namespace

std::span<const std::string_view> groups() { return kGroups; }
std::span<const Entry> all_entries() { return entries(); }

const Entry* find_entry(std::span<const std::string_view> words) {
  if (words.empty()) return nullptr;
  for (const Entry& entry : entries()) {
    if (is_named(entry, words)) return &entry;
  }
  return nullptr;
}

std::vector<const Entry*> subcommands_of(std::string_view name) {
  std::vector<const Entry*> found;
  for (const Entry& entry : entries()) {
    const std::size_t blank = entry.name.find(' ');
    if (blank != std::string_view::npos && same_word(entry.name.substr(0, blank), name)) {
      found.push_back(&entry);
    }
  }
  return found;
}

}  // namespace keyway::catalogue
