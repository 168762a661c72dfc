// Inline requests: the words that Redis' sdssplitargs makes of a line.
#include "keyway/kvstore/resp/line_words.h"

#include <catch2/catch.hpp>

namespace keyway::resp {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view line) {
  Words words;
  REQUIRE(split_line(line, words));
  return words;
}

TEST_CASE("resp: the words of a line") {
  using namespace std::string_literals;
  CHECK(words_of("").empty());
  CHECK(words_of(" \t ").empty());
  CHECK(words_of("get k") == Words{"get", "k"});
  CHECK(words_of("  set\tk   v ") == Words{"set", "k", "v"});
  CHECK(words_of(R"(set k "a b")") == Words{"set", "k", "a b"});
  CHECK(words_of(R"(set "" '')") == Words{"set", "", ""});
  CHECK(words_of(R"("\x00\xfF\n\r\t\b\a\"\\\q")") == Words{"\0\xff\n\r\t\b\a\"\\q"s});
  CHECK(words_of(R"("\xg1" "\x1")") == Words{"xg1", "x1"});
  CHECK(words_of(R"('a\'b\n"')") == Words{R"(a'b\n")"});
  CHECK(words_of(R"(pre"fix ed")") == Words{"prefix ed"});
}

TEST_CASE("resp: a line with wrong quotes leaves the words as they were") {
  for (const char* line :
       {"\"", "'", "a \"b", "'a\\'", "\"a\"b", "'a'b", "\"a\\\"", "\"\\x0\"\""}) {
    CAPTURE(line);
    Words words{"before"};
    CHECK_FALSE(split_line(line, words));
    CHECK(words == Words{"before"});
  }
}

}  // namespace
}  // namespace keyway::resp
