// The same bytes to a parser at once and in pieces, as a socket may give them: the results are
// equal.
//
// *Thread safety.* Pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::fuzz {

/// The result of a parser on some bytes: its values as text, and how it ended.
struct Outcome {
  std::vector<std::string> results;
  std::string error;

  bool operator==(const Outcome&) const = default;
};

/// Feeds `bytes` in pieces of `piece` bytes. `parse(seen)` parses the bytes that have arrived and
/// are not consumed, and returns its result: whether to continue, and how much was consumed. The
/// bytes move with each piece, so that a parser that kept an address of them fails.
template <class Parse>
void feed(std::string_view bytes, std::size_t piece, Parse&& parse) {
  std::size_t begin = 0;
  std::size_t end = 0;
  while (end < bytes.size()) {
    end = std::min(bytes.size(), end + piece);
    while (true) {
      const std::vector<char> moved(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                                    bytes.begin() + static_cast<std::ptrdiff_t>(end));
      const auto [more, consumed] = parse(std::string_view(moved.data(), moved.size()));
      begin += consumed;
      if (!more) return;
      if (consumed == 0) break;
    }
  }
}

}  // namespace keyway::fuzz
