// How the arguments of a command are written, and what may follow the words of one.
//
// `key` is a word of the user's; `[...]` may be left out; `a | b` is one of both; `...` may come
// again; capitals are words to be typed as they stand.
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
/// Of a piece: "[...]"; "key ..." or "[key ...]".
bool is_optional(std::string_view piece);
bool repeats(std::string_view piece);
/// What may stand in its place, each with pieces of its own.
std::vector<Pieces> alternatives_of(std::string_view piece);
/// Of a word: typed as it stands.
bool is_literal(std::string_view word);

/// The pieces that are still to come behind these words; nothing where there is no place for them.
std::optional<Pieces> pieces_after(std::string_view arguments,
                                   std::span<const std::string_view> words);

/// Words that may come next and are typed as they stand, such as EX and KEEPTTL.
std::vector<std::string_view> next_literals(const Pieces& pieces);

}  // namespace keyway::catalogue
