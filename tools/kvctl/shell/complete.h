// What may be typed next: completions of the last word, and a hint at the words behind it.
//
// *Thread safety.* Functions of their arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace keyway::kvctl {

/// What the last word of a line, which may be empty, can become: whole words, in the case in which
/// it was begun, in order.
struct Completion {
  std::size_t from = 0;  // where that word begins
  std::vector<std::string> words;
};
Completion complete(std::string_view line);

/// What the words that were typed need or take beyond them; empty where nothing is known of that.
/// It is to be shown behind the line, with a blank between where the line does not end in one.
std::string hint(std::string_view line);

}  // namespace keyway::kvctl
