// Completions of the last word, and hints for the words after it.
//
// *Thread safety.* Functions of their arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace keyway::kvctl {

/// The completions of a line's last word, which may be empty: whole words, in the case of the typed
/// letters, in order.
struct Completion {
  std::size_t from = 0;  // start of that word
  std::vector<std::string> words;
};
Completion complete(std::string_view line);

/// The arguments that the typed words need or accept after them; empty if they are unknown. Show it
/// behind the line, with a blank between unless the line ends in one.
std::string hint(std::string_view line);

}  // namespace keyway::kvctl
