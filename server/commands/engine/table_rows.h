// Rows of the table that stand in files of their own.
//
// *Thread safety.* Constant.
#pragma once

#include <span>
#include <string_view>

#include "keyway/server/commands/engine/command.h"

namespace keyway::server {

/// A tip: replies differ from call to call.
inline constexpr std::string_view kVaries = "nondeterministic_output";

/// "cluster|...", in table_cluster.cc.
std::span<const Command> cluster_rows();

}  // namespace keyway::server
