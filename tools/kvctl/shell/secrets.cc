#include "shell/secrets.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "keyway/kvstore/resp/line_words.h"
#include "keyway/locks/base/words.h"

namespace keyway::kvctl {
namespace {

bool says(const std::vector<std::string>& words, std::string_view wanted) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return same_word(word, wanted); });
}

bool says_anywhere(std::string_view line, std::string_view wanted) {
  for (std::size_t i = 0; i + wanted.size() <= line.size(); ++i) {
    if (begins_with(line.substr(i), wanted)) return true;
  }
  return false;
}

}  // namespace

bool holds_password(std::string_view line) {
  constexpr std::array<std::string_view, 6> kTelling = {"auth",    "requirepass", "masterauth",
                                                        "setuser", "auth2",       "key-file-pass"};
  std::vector<std::string> words;
  if (!resp::split_line(line, words)) {
    return std::any_of(kTelling.begin(), kTelling.end(),
                       [&](std::string_view word) { return says_anywhere(line, word); });
  }
  while (!words.empty() && !words[0].empty() &&
         words[0].find_first_not_of("0123456789") == std::string::npos) {
    words.erase(words.begin());  // how often
  }
  if (words.empty()) return false;
  const std::string& name = words[0];
  if (same_word(name, "auth")) return true;
  if (same_word(name, "hello")) return says(words, "auth");
  if (same_word(name, "migrate")) return says(words, "auth") || says(words, "auth2");
  if (same_word(name, "acl")) return says(words, "setuser");
  if (!same_word(name, "config") || !says(words, "set")) return false;
  return says(words, "requirepass") || says(words, "masterauth") ||
         says(words, "tls-key-file-pass") || says(words, "tls-client-key-file-pass");
}

}  // namespace keyway::kvctl
