// Declarations that the CLUSTER commands share.
//
// *Thread safety.* As Call.
#pragma once

#include "keyway/server/commands/cluster/cluster_view.h"
#include "keyway/server/commands/engine/call.h"

namespace keyway::server {

/// The view; null, with Redis' sentence, if this server is not a cluster.
const ClusterView* cluster_or_error(const Call& call);

}  // namespace keyway::server
