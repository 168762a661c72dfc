#include "keyway/client/catalogue/arguments.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "keyway/client/catalogue/syntax.h"
#include "keyway/locks/base/words.h"

namespace keyway::catalogue {
namespace {

using Arguments = std::vector<Argument>;

/// The type of a word by the name that the entries give it.
Type type_of(std::string_view name) {
  constexpr std::array<std::string_view, 6> kKeys = {"key",    "key1",   "key2",
                                                     "newkey", "source", "destination"};
  constexpr std::array<std::string_view, 20> kIntegers = {
      "bit",      "client-id", "count", "cursor", "decrement",  "end",    "epoch",
      "id",       "increment", "index", "length", "ms",         "offset", "port",
      "protover", "s",         "slot",  "start",  "timeout-ms", "token"};
  const auto is_one_of = [&](std::span<const std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (is_one_of(kKeys)) return Type::kKey;
  if (is_one_of(kIntegers)) return Type::kInteger;
  if (name == "pattern") return Type::kPattern;
  return name.starts_with("unix-") ? Type::kUnixTime : Type::kString;
}

Arguments arguments_of_pieces(std::span<const std::string_view> pieces);

Argument block_of(Arguments parts) {
  if (parts.size() == 1) return std::move(parts.front());
  Argument block;
  block.type = Type::kBlock;
  block.parts = std::move(parts);
  return block;
}

/// "EX s": a word behind a token; "GET": a literal; "start end": a block.
Argument argument_of(std::span<const std::string_view> alternative) {
  if (!is_literal(alternative.front())) return block_of(arguments_of_pieces(alternative));
  Argument argument;
  argument.type = Type::kLiteral;
  if (alternative.size() > 1) {
    argument = block_of(arguments_of_pieces(alternative.subspan(1)));
    if (!argument.token.empty() || argument.optional) {
      Argument inner = std::exchange(argument, {});
      argument.type = Type::kBlock;
      argument.parts.push_back(std::move(inner));
    }
  }
  argument.token = alternative.front();
  return argument;
}

Argument argument_of_piece(std::string_view piece) {
  Argument argument;
  const auto alternatives = alternatives_of(piece);
  if (alternatives.size() == 1) {
    argument = argument_of(alternatives.front());
  } else {
    argument.type = Type::kOneOf;
    for (const Pieces& one : alternatives) argument.parts.push_back(argument_of(one));
  }
  argument.optional |= is_optional(piece);
  return argument;
}

/// In "[key value ...]", after "key value", it means that these may be repeated; elsewhere it means
/// any number.
void add_repeated(Arguments& arguments, std::string_view piece) {
  Pieces names = alternatives_of(piece).front();
  names.pop_back();  // the dots
  const std::size_t count = names.size();
  const bool again =
      arguments.size() >= count &&
      std::equal(names.begin(), names.end(), arguments.end() - static_cast<std::ptrdiff_t>(count),
                 [](std::string_view name, const Argument& a) { return a.name == name; });
  Argument repeated;
  if (again) {
    const auto from = arguments.end() - static_cast<std::ptrdiff_t>(count);
    repeated = block_of({std::make_move_iterator(from), std::make_move_iterator(arguments.end())});
    arguments.erase(from, arguments.end());
  } else {
    repeated = block_of(arguments_of_pieces(names));
    repeated.optional = true;
  }
  repeated.multiple = true;
  arguments.push_back(std::move(repeated));
}

Arguments arguments_of_pieces(std::span<const std::string_view> pieces) {
  Arguments arguments;
  for (const std::string_view piece : pieces) {
    if (is_optional(piece) && repeats(piece)) {
      add_repeated(arguments, piece);
    } else if (is_optional(piece) || piece.find('|') != std::string_view::npos) {
      arguments.push_back(argument_of_piece(piece));
    } else {
      Argument& argument = arguments.emplace_back();
      argument.type = is_literal(piece) ? Type::kLiteral : type_of(piece);
      (is_literal(piece) ? argument.token : argument.name) = piece;
    }
  }
  return arguments;
}

}  // namespace

std::vector<Argument> arguments_of(std::string_view text) {
  return arguments_of_pieces(pieces_of(text));
}

std::string_view name_of(Type type) {
  switch (type) {
    case Type::kString: return "string";
    case Type::kKey: return "key";
    case Type::kInteger: return "integer";
    case Type::kPattern: return "pattern";
    case Type::kUnixTime: return "unix-time";
    case Type::kLiteral: return "pure-token";
    case Type::kOneOf: return "oneof";
    case Type::kBlock: break;
  }
  return "block";
}

std::string name_of(const Argument& argument) {
  if (!argument.name.empty()) return std::string(argument.name);
  if (argument.type == Type::kLiteral) return in_lower_case(argument.token);
  std::string name;
  for (const Argument& part : argument.parts) {
    if (!name.empty()) name += '_';
    name += name_of(part);
  }
  return name;
}

}  // namespace keyway::catalogue
