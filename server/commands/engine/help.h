// The reply of CLIENT HELP and its like.
//
// *Thread safety.* As Call.
// *Source.* Redis 7.0, networking.c (addReplyHelp).
#pragma once

#include <initializer_list>
#include <string_view>

#include "keyway/server/commands/engine/call.h"

namespace keyway::server {

/// The lines that say what a command's subcommands are.
void reply_help(const Call& call, std::string_view command,
                std::initializer_list<std::string_view> lines);

}  // namespace keyway::server
