// The arguments of a command as a tree.
#include "keyway/client/catalogue/arguments.h"

#include <catch2/catch.hpp>

using namespace keyway::catalogue;

namespace {

std::string shown(const std::vector<Argument>& arguments, std::string_view between);

/// A word as it is; a token before it or alone; "(a|b)" one of both, "{a b}" a block; "?" optional,
/// "+" multiple.
std::string shown(const Argument& argument) {
  std::string text(argument.token);
  if (!text.empty() && argument.type != Type::kLiteral) text += ':';
  if (argument.parts.empty()) text += argument.name;
  if (argument.type == Type::kOneOf) text += '(' + shown(argument.parts, "|") + ')';
  if (argument.type == Type::kBlock) text += '{' + shown(argument.parts, " ") + '}';
  return text + (argument.optional ? "?" : "") + (argument.multiple ? "+" : "");
}

std::string shown(const std::vector<Argument>& arguments, std::string_view between) {
  std::string text;
  for (const Argument& argument : arguments) {
    if (!text.empty()) text += between;
    text += shown(argument);
  }
  return text;
}

std::string read(std::string_view text) { return shown(arguments_of(text), " "); }

}  // namespace

TEST_CASE("catalogue: words and literals") {
  CHECK(read("") == "");
  CHECK(read("key value") == "key value");
  CHECK(read("[message]") == "message?");
  CHECK(read("ON | OFF | SKIP") == "(ON|OFF|SKIP)");
  CHECK(read("name READ | WRITE [LEASE ms]") == "name (READ|WRITE) LEASE:ms?");
}

TEST_CASE("catalogue: options") {
  CHECK(read("key value [NX | XX | IFEQ expected] [GET] [EX s | KEEPTTL]") ==
        "key value (NX|XX|IFEQ:expected)? GET? (EX:s|KEEPTTL)?");
  CHECK(read("key [start end [BYTE | BIT]]") == "key {start end (BYTE|BIT)?}?");
  CHECK(read("[protover [AUTH username password] [SETNAME name]]") ==
        "{protover AUTH:{username password}? SETNAME:name?}?");
  CHECK(read("[TYPE NORMAL]") == "TYPE:{NORMAL}?");
  CHECK(read("t [WRITE|ALL]") == "t (WRITE|ALL)?");
}

TEST_CASE("catalogue: what may come again") {
  CHECK(read("key [key ...]") == "key+");
  CHECK(read("key value [key value ...]") == "{key value}+");
  CHECK(read("[section ...]") == "section?+");
  CHECK(read("AND | OR destination key [key ...]") == "(AND|OR) destination key+");
  CHECK(read("[ID id [id ...]]") == "ID:id?+");
  CHECK(read("command [argument ...]") == "command argument?+");
}

TEST_CASE("catalogue: names of arguments") {
  const auto set = arguments_of("key [NX | EX s] [a b]");
  CHECK(name_of(set[0]) == "key");
  CHECK(name_of(set[1]) == "nx_s");
  CHECK(name_of(set[2]) == "a_b");
}

TEST_CASE("catalogue: types of words") {
  const auto words = arguments_of("key pattern unix-ms count member");
  const std::vector<Type> types = {Type::kKey, Type::kPattern, Type::kUnixTime, Type::kInteger,
                                   Type::kString};
  for (std::size_t i = 0; i < types.size(); ++i) CHECK(words[i].type == types[i]);
}
