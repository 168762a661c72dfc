#include "keyway/server/commands/engine/help.h"

#include <fmt/core.h>

namespace keyway::server {

void reply_help(const Call& call, std::string_view command,
                std::initializer_list<std::string_view> lines) {
  call.out.array(lines.size() + 3);
  call.out.simple(
      fmt::format("{} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:", command));
  for (const std::string_view line : lines) call.out.simple(line);
  call.out.simple("HELP");
  call.out.simple("    Prints this help.");
}

}  // namespace keyway::server
