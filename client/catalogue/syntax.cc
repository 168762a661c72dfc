#include "keyway/client/catalogue/syntax.h"

#include <algorithm>

#include "keyway/locks/base/words.h"

namespace keyway::catalogue {
namespace {

std::string_view body_of(std::string_view piece) {
  return is_optional(piece) ? piece.substr(1, piece.size() - 2) : piece;
}

/// `text`, cut where `at` stands outside of brackets; blanks around parts are left out.
Pieces cut(std::string_view text, char at) {
  Pieces parts;
  std::size_t depth = 0;
  std::size_t from = 0;
  const auto keep = [&](std::size_t to) {
    std::string_view part = text.substr(from, to - from);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
    from = to + 1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']') --depth;
    if (depth == 0 && text[i] == at) keep(i);
  }
  keep(text.size());
  return parts;
}

/// Takes the piece at `at` away and puts what follows its first word in front of all others.
void enter(Pieces& pieces, std::size_t at, const Pieces& chosen) {
  pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at));
  pieces.insert(pieces.begin(), chosen.begin() + 1, chosen.end());
}

/// Takes an option by its literal word. False where none of the pieces has it.
bool take_literal(Pieces& pieces, std::string_view word) {
  for (std::size_t i = 0; i < pieces.size() && is_optional(pieces[i]); ++i) {
    for (const Pieces& chosen : alternatives_of(pieces[i])) {
      if (!is_literal(chosen.front()) || !same_word(chosen.front(), word)) continue;
      enter(pieces, i, chosen);
      return true;
    }
  }
  return false;
}

/// Takes an optional word of the user's. False if there is none.
bool take_optional(Pieces& pieces) {
  for (std::size_t i = 0; i < pieces.size() && is_optional(pieces[i]); ++i) {
    if (repeats(pieces[i])) return true;
    const Pieces inside = pieces_of(body_of(pieces[i]));
    if (is_literal(alternatives_of(pieces[i]).front().front())) continue;
    enter(pieces, i, inside);
    return true;
  }
  return false;
}

}  // namespace

bool is_optional(std::string_view piece) { return piece.starts_with('['); }

bool repeats(std::string_view piece) { return body_of(piece).ends_with("..."); }

bool is_literal(std::string_view word) {
  return word.size() > 1 && std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
         });
}

std::vector<Pieces> alternatives_of(std::string_view piece) {
  std::vector<Pieces> found;
  for (const std::string_view part : cut(body_of(piece), '|')) found.push_back(cut(part, ' '));
  return found;
}

Pieces pieces_of(std::string_view arguments) {
  Pieces pieces;
  bool joins = false;
  for (const std::string_view word : cut(arguments, ' ')) {
    const bool bar = word == "|";
    if (!pieces.empty() && (bar || joins)) {
      const char* from = pieces.back().data();
      pieces.back() = {from, static_cast<std::size_t>(word.data() + word.size() - from)};
    } else {
      pieces.push_back(word);
    }
    joins = bar;
  }
  return pieces;
}

std::optional<Pieces> pieces_after(std::string_view arguments,
                                   std::span<const std::string_view> words) {
  Pieces pieces = pieces_of(arguments);
  for (const std::string_view word : words) {
    if (!pieces.empty() && !is_optional(pieces.front())) {
      pieces.erase(pieces.begin());
    } else if (!take_literal(pieces, word) && !take_optional(pieces)) {
      return std::nullopt;
    }
  }
  return pieces;
}

std::vector<std::string_view> next_literals(const Pieces& pieces) {
  std::vector<std::string_view> found;
  for (const std::string_view piece : pieces) {
    for (const Pieces& chosen : alternatives_of(piece)) {
      if (is_literal(chosen.front())) found.push_back(chosen.front());
    }
    if (!is_optional(piece)) break;
  }
  return found;
}

}  // namespace keyway::catalogue
