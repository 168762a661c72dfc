// The possible next arguments after words of a command.
#include "keyway/client/catalogue/syntax.h"

#include <catch2/catch.hpp>

using namespace keyway::catalogue;

namespace {

constexpr std::string_view kSet = "key value [NX | XX | IFEQ old] [GET] [EX s | KEEPTTL]";

using Words = std::vector<std::string_view>;

/// "-" if the words do not fit.
std::string after(std::string_view arguments, const Words& words) {
  const auto pieces = pieces_after(arguments, words);
  if (!pieces) return "-";
  std::string text;
  for (const std::string_view piece : *pieces) {
    if (!text.empty()) text += '+';
    text += piece;
  }
  return text;
}

}  // namespace

TEST_CASE("catalogue: arguments have pieces") {
  CHECK(pieces_of(kSet).size() == 5);
  CHECK(pieces_of("name READ | WRITE [LEASE ms]") == Pieces{"name", "READ | WRITE", "[LEASE ms]"});
  CHECK(pieces_of("").empty());
}

TEST_CASE("catalogue: words that were typed take their pieces away") {
  CHECK(after(kSet, {"k", "v"}) == "[NX | XX | IFEQ old]+[GET]+[EX s | KEEPTTL]");
  CHECK(after(kSet, {"k", "v", "get"}) == "[NX | XX | IFEQ old]+[EX s | KEEPTTL]");
  CHECK(after(kSet, {"k", "v", "ex"}) == "s+[NX | XX | IFEQ old]+[GET]");
  CHECK(after(kSet, {"k", "v", "EX", "5", "IFEQ", "x"}) == "[GET]");
  CHECK(after(kSet, {"k", "v", "what"}) == "-");
  CHECK(after("key [key ...]", {"a", "b", "c"}) == "[key ...]");
  CHECK(after("key [start end [BYTE | BIT]]", {"k", "0"}) == "end+[BYTE | BIT]");
  CHECK(after("[username] password", {"x"}) == "password");
  CHECK(after("[username] password", {"x", "y"}).empty());
  CHECK(after("", {"x"}) == "-");
  CHECK(after("[protover [AUTH username password]]", {"3", "auth", "u"}) == "password");
}

TEST_CASE("catalogue: options are words as they stand") {
  CHECK(next_literals(pieces_of("[NX | XX | IFEQ old] [GET]")) == Words{"NX", "XX", "IFEQ", "GET"});
  CHECK(next_literals(pieces_of("READ | WRITE [LEASE ms]")) == Words{"READ", "WRITE"});
  CHECK(next_literals(pieces_of("key [REPLACE]")).empty());
}
