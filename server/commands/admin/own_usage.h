// The contents of the memory of a server's own ranks.
//
// *Thread safety.* As the session; look_at_volumes() is one thread's. Nothing waits: own memory is
// only looked at.
#pragma once

#include "keyway/client/client.h"
#include "keyway/server/commands/admin/server_info.h"
#include "keyway/server/statistics/volume_figures.h"

namespace keyway::server {

/// Inspects the volumes with memory in this process, and keeps the results. It reads a word of each
/// chunk of the heaps, so no worker does it. Called first before any thread reads the figures.
void look_at_volumes(Session& session, const ServerInfo& server_info, VolumeFigures& figures);
/// The elements in them now. Costs a read of each stripe's counters.
VolumeCounts own_counts(Session& session, const ServerInfo& server_info);
/// The bytes in use when the segments were last looked at: all outside of the heap, and the part of
/// the heap that is taken.
std::uint64_t used_bytes(const VolumeFigures& figures);

}  // namespace keyway::server
