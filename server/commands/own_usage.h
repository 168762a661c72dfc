// What is in the memory of a server's own ranks.
//
// *Thread safety.* As the session. Nothing waits: own memory is only looked at.
#pragma once

#include "keyway/client/client.h"
#include "keyway/server/commands/facts.h"

namespace keyway::server {

/// The volumes whose memory this process has, added up.
VolumeUsage own_usage(Session& session, const Facts& facts);
/// Of their segments: what is not heap, and what of the heap is taken.
std::uint64_t used_bytes(const VolumeUsage& usage);

}  // namespace keyway::server
