// The arguments of a command as a tree, read off its words.
//
// *Thread safety.* Functions of their arguments; what they return has views of these.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::catalogue {

/// As COMMAND DOCS tells them apart: what a word of the user's is, by its name, and what is none.
enum class Type : std::uint8_t {
  kString,
  kKey,  // where the command has keys: a slot is asked for with a key that is none
  kInteger,
  kPattern,
  kUnixTime,
  kLiteral,  // typed as it stands: only `token`
  kOneOf,    // one of `parts`
  kBlock,    // `parts` one after the other
};

/// "[EX s | KEEPTTL]" is optional and one of a word, whose name is "s" and whose token is "EX", and
/// a literal, whose token is "KEEPTTL".
struct Argument {
  Type type = Type::kString;
  std::string_view name;   // of a word
  std::string_view token;  // what is typed before it, or for it; may be empty
  bool optional = false;
  bool multiple = false;  // may come again
  std::vector<Argument> parts;
};

std::vector<Argument> arguments_of(std::string_view text);

/// "string", "pure-token", ...
std::string_view name_of(Type type);
/// A name for any of them: a word's own, a literal's in lower case, those of the parts together.
std::string name_of(const Argument& argument);

}  // namespace keyway::catalogue
