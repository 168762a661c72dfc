// The words that the shell itself understands; all others go to the server.
//
// *Thread safety.* Constant.
#pragma once

#include <span>
#include <string_view>

namespace keyway::kvctl {

struct Builtin {
  std::string_view name;  // capitals
  std::string_view arguments;
  std::string_view summary;
};

std::span<const Builtin> builtins();

}  // namespace keyway::kvctl
