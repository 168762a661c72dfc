// Collects the constant information about a server from its options and its store.
//
// *Thread safety.* A function of its arguments.
#pragma once

#include "keyway/client/client.h"
#include "keyway/server/commands/admin/server_info.h"
#include "options.h"

namespace keyway::server {

/// The ports of `options` are those that were got.
ServerInfo make_server_info(const Options& options, const Store& store);

}  // namespace keyway::server
