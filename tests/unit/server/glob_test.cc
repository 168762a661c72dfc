// Patterns: a table with the answers of redis-server, and a matcher that tries everything.
#include <rapidcheck.h>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "keyway/server/commands/keys/glob.h"

namespace keyway::server {
namespace {

struct Row {
  std::string_view pattern;
  std::string_view text;
  bool fits;
};

constexpr Row kRows[] = {
    {"a", "a", true},
    {"a", "A", false},
    {"a", "ab", false},
    {"", "a", false},
    {"*", "a", true},
    {"**", "a", true},
    {"a*", "a", true},
    {"a**", "a", true},
    {"*a", "a", true},
    {"*a", "ba", true},
    {"*a", "ab", false},
    {"a*b*c", "aXbXbXc", true},
    {"a*b*c", "aXbXbX", false},
    {"*ab*ab", "abab", true},
    {"*ab*ab", "aba", false},
    {"?", "a", true},
    {"?", "ab", false},
    {"?*", "a", true},
    {"*?", "a", true},
    {"a?c", "abc", true},
    {"[abc]", "b", true},
    {"[abc]", "d", false},
    {"[a-c]", "b", true},
    {"[c-a]", "b", true},
    {"[a-c]", "-", false},
    {"[a-]", "-", false},
    {"[a-]", "a", true},
    {"[-a]", "-", true},
    {"[^a]", "b", true},
    {"[^a]", "a", false},
    {"[!a]", "!", true},
    {"[!a]", "b", false},
    {"[a^]", "^", true},
    {"[^^]", "^", false},
    {"[^]", "b", true},
    {"[^]", "^", true},
    {"[^]b", "ab", true},
    {"[]", "]", false},
    {"[]a]", "a]", false},
    {"[abc", "b", true},
    {"[abc", "bc", false},
    {"[^abc", "d", true},
    {"[", "[", false},
    {"[^", "a", true},
    {"[a-", "-", true},
    {"[a-c", "b", true},
    {"[\\]]", "]", true},
    {"[\\a]", "\\", false},
    {"[\\a]", "a", true},
    {"[\\", "\\", true},
    {"[a\\-c]", "b", false},
    {"[a\\-c]", "-", true},
    {"[a-\\]", "]", true},
    {"[a-\\]", "^", true},
    {"[+--]", ",", true},
    {"\\*", "*", true},
    {"\\*", "a", false},
    {"\\\\", "\\", true},
    {"\\", "\\", true},
    {"a\\", "a\\", true},
    {"\\[a]", "[a]", true},
    {"a]", "a]", true},
    {"*[b]*", "abc", true},
    {"*[^a-z]", "abc1", true},
    {"h[ae]llo*\\?", "hello world?", true},
    {"[a-\xff]", "b", false},
    {"[a-\xff]", "A", true},
    {"\xff*", "\xff\xfe", true},
    {"[\x80-\xff]", "\x90", true},
    {"[\x01-\xff]", "\x90", false},
};

TEST_CASE("glob: what redis-server takes and refuses") {
  for (const Row& row : kRows) {
    INFO("pattern " << row.pattern << ", text " << row.text);
    CHECK(glob_match(row.pattern, row.text) == row.fits);
  }
}

TEST_CASE("glob: bytes that are zero are bytes like others") {
  using std::string_view_literals::operator""sv;
  CHECK(glob_match("a\0*c"sv, "a\0bc"sv));
  CHECK_FALSE(glob_match("a\0b"sv, "a"sv));
}

TEST_CASE("glob: any case folds letters, but no byte of a class behind a backslash") {
  CHECK(glob_match("GeT*", "getrange", true));
  CHECK(glob_match("[A-C]", "b", true));
  CHECK(glob_match("[G]et", "get", true));
  CHECK_FALSE(glob_match("[\\G]et", "get", true));
  CHECK_FALSE(glob_match("GeT*", "getrange"));
}

TEST_CASE("glob: many stars take no more time than their product with the text") {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  const std::string text(20'000, 'a');
  CHECK(glob_match(pattern, text));
  CHECK_FALSE(glob_match(pattern + 'b', text));  // by trying all stars at all places: never
}

/// Tries every length for every star, for patterns of letters, '*' and '?'.
bool fits_by_trying(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    for (std::size_t n = 0; n <= text.size(); ++n) {
      if (fits_by_trying(pattern.substr(1), text.substr(n))) return true;
    }
    return false;
  }
  if (text.empty() || (pattern[0] != '?' && pattern[0] != text[0])) return false;
  return fits_by_trying(pattern.substr(1), text.substr(1));
}

TEST_CASE("glob: as trying everything finds") {
  const bool held = rc::check("glob_match", [] {
    const auto short_of = [](std::string letters) {
      return rc::gen::resize(
          9, rc::gen::container<std::string>(rc::gen::elementOf(std::move(letters))));
    };
    const std::string pattern = *short_of("ab*?*");
    const std::string text = *short_of("ab");
    RC_ASSERT(glob_match(pattern, text) == fits_by_trying(pattern, text));
  });
  CHECK(held);
}

}  // namespace
}  // namespace keyway::server
