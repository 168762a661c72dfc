// Comparisons of words that ignore ASCII case.
//
// *Thread safety.* Functions of their arguments.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace keyway {

constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

/// Whether `word` is `name`, which is in lower case.
constexpr bool is_word(std::string_view word, std::string_view name) {
  return word.size() == name.size() && std::equal(word.begin(), word.end(), name.begin(),
                                                  [](char a, char b) { return lower(a) == b; });
}

/// Whether `word` begins with `beginning`, in any case.
constexpr bool begins_with(std::string_view word, std::string_view beginning) {
  return word.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), word.begin(),
                    [](char a, char b) { return upper(a) == upper(b); });
}

/// Whether both are the same word, in any case.
constexpr bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && begins_with(a, b);
}

inline std::string in_lower_case(std::string_view word) {
  std::string text(word);
  std::transform(text.begin(), text.end(), text.begin(), lower);
  return text;
}

inline std::string in_capitals(std::string_view word) {
  std::string text(word);
  std::transform(text.begin(), text.end(), text.begin(), upper);
  return text;
}

}  // namespace keyway
