// Hides words of a request in the slow log: for Command::hide_secrets.
//
// *Thread safety.* Functions of their arguments.
// *Source.* Redis 7.0, redactClientCommandArgument().
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

namespace keyway::server {

inline void hide(std::span<std::string_view> words) {
  std::fill(words.begin(), words.end(), "(redacted)");
}

}  // namespace keyway::server
