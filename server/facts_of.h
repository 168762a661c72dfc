// Collects the facts of a server from its options and its store.
//
// *Thread safety.* A function of its arguments.
#pragma once

#include "keyway/client/client.h"
#include "keyway/server/commands/admin/facts.h"
#include "options.h"

namespace keyway::server {

/// The ports of `options` are those that were got.
Facts facts_of(const Options& options, const Store& store);

}  // namespace keyway::server
