// Rows of the table that stand in files of their own.
//
// *Thread safety.* Constant.
#pragma once

#include <span>

#include "keyway/server/commands/command.h"

namespace keyway::server {

/// "cluster|...", in table_cluster.cc.
std::span<const Command> cluster_rows();

}  // namespace keyway::server
