// SHUTDOWN.

#include "keyway/locks/base/words.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

struct ShutdownOptions {
  bool save = false;
  bool no_save = false;
  bool force = false;
  bool abort = false;
};

/// Nothing for an unknown option, or for two that exclude each other.
std::optional<ShutdownOptions> options_of(const Call& call) {
  ShutdownOptions options;
  for (const std::string_view word : call.words.subspan(1)) {
    if (is_word(word, "nosave")) {
      options.no_save = true;
    } else if (is_word(word, "save")) {
      options.save = true;
    } else if (is_word(word, "force")) {
      options.force = true;
    } else if (is_word(word, "abort")) {
      options.abort = true;
    } else if (!is_word(word, "now")) {
      return std::nullopt;
    }
  }
  if (options.save && options.no_save) return std::nullopt;
  if (options.abort && call.count() > 2) return std::nullopt;
  return options;
}

/// As SIGTERM. No reply: the connection closes. A client that requests a save gets an error, unless
/// it forces the shutdown.
void run_shutdown(const Call& call) {
  const auto options = options_of(call);
  if (!options) return call.error(kSyntaxError);
  if (options->abort) return call.error("ERR No shutdown in progress.");
  if (!call.service.shut_down || (options->save && !options->force)) {
    return call.error("ERR Errors trying to SHUTDOWN. Check logs.");
  }
  call.client.closing = true;
  call.service.shut_down();
}

}  // namespace

CommandRows commands_of_admin_shutdown() {
  static constexpr auto kRows = checked({
      {.name = "shutdown",
       .arity = -1,
       .group = Group::kServer,
       .flags = kOfConfig | kNoMulti | kAllowBusy,
       .run = run_shutdown,
       .arguments = "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]",
       .summary = "Stops the server once all requests in progress are answered."},
  });
  return kRows;
}

}  // namespace keyway::server
