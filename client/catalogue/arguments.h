// The arguments of a command as a tree, read off its words.
//
// *Thread safety.* Functions of their arguments; what they return has views of these.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::catalogue {

/// The types of COMMAND DOCS: the type of a user's word, by its name, and of literals.
enum class Type : std::uint8_t {
  kString,
  kKey,  // if the command has keys: a slot may be given by a word that is not a key
  kInteger,
  kPattern,
  kUnixTime,
  kLiteral,  // typed literally: only `token`
  kOneOf,    // one of `parts`
  kBlock,    // `parts` one after the other
};

/// "[EX s | KEEPTTL]" is optional and one of a word, with name "s" and token "EX", and a literal,
/// with token "KEEPTTL".
struct Argument {
  Type type = Type::kString;
  std::string_view name;   // name of a word
  std::string_view token;  // text typed before it, or for it; may be empty
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
