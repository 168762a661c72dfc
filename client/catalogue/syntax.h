// How the arguments of a command are written, and what may follow the words of one.
//
// `key` is a word of the user's; `[...]` may be left out; `a | b` is one of both; `...` may come
// again; words in capitals are typed literally.
// *Thread safety.* Functions of their arguments; what they return are views of these.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::catalogue {

/// A word, alternatives ("READ | WRITE"), or what may be left out ("[COUNT count]").
using Pieces = std::vector<std::string_view>;

/// The pieces of arguments.
Pieces pieces_of(std::string_view arguments);
/// For a piece: "[...]"; "key ..." or "[key ...]".
bool is_optional(std::string_view piece);
bool repeats(std::string_view piece);
/// The alternatives in its place, each with its own pieces.
std::vector<Pieces> alternatives_of(std::string_view piece);
/// For a word: typed literally.
bool is_literal(std::string_view word);

/// The pieces that may follow these words; nothing if the words do not fit the pieces.
std::optional<Pieces> pieces_after(std::string_view arguments,
                                   std::span<const std::string_view> words);

/// Literal words that may come next, such as EX and KEEPTTL.
std::vector<std::string_view> next_literals(const Pieces& pieces);

}  // namespace keyway::catalogue
