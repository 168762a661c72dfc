// kvctl's catalogue of commands: every entry can be read, by people and by the shell.
#include "tools/kvctl/shell/catalogue.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string_view>
#include <vector>

#include "keyway/client/catalogue/arguments.h"
#include "keyway/client/catalogue/syntax.h"

using namespace keyway::catalogue;
using namespace keyway::kvctl;

namespace {

/// Whether every part of a tree is as its type says.
bool is_whole(const Argument& argument) {
  const bool parts = argument.type == Type::kOneOf || argument.type == Type::kBlock;
  if (parts ? argument.parts.empty() : !argument.parts.empty()) return false;
  if (argument.type == Type::kOneOf && argument.parts.size() < 2) return false;
  if (argument.name.empty() != (parts || argument.type == Type::kLiteral)) return false;
  if (argument.type == Type::kLiteral && argument.token.empty()) return false;
  return std::all_of(argument.parts.begin(), argument.parts.end(), is_whole) &&
         !name_of(argument).empty();
}

}  // namespace

TEST_CASE("catalogue: every entry can be read") {
  for (const Entry& entry : all_entries()) {
    CAPTURE(entry.name);
    const std::vector<std::string_view> words = {entry.name.substr(0, entry.name.find(' ')),
                                                 entry.name.substr(entry.name.find(' ') + 1)};
    CHECK(find_entry(words) == &entry);
    CHECK(std::find(groups().begin(), groups().end(), entry.group) != groups().end());
    CHECK(entry.summary.ends_with('.'));
    const auto pieces = pieces_of(entry.arguments);
    for (const std::string_view piece : pieces) {
      CHECK(std::count(piece.begin(), piece.end(), '[') ==
            std::count(piece.begin(), piece.end(), ']'));
      CHECK_FALSE(piece.ends_with('|'));
    }
    next_literals(pieces);
  }
}

TEST_CASE("catalogue: the arguments of every entry are whole") {
  for (const Entry& entry : all_entries()) {
    CAPTURE(entry.name);
    const auto arguments = arguments_of(entry.arguments);
    CHECK(arguments.empty() == entry.arguments.empty());
    CHECK(std::all_of(arguments.begin(), arguments.end(), is_whole));
  }
}
