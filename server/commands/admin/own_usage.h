// What is in the memory of a server's own ranks.
//
// *Thread safety.* As the session; look_at_volumes() is one thread's. Nothing waits: own memory is
// only looked at.
#pragma once

#include "keyway/client/client.h"
#include "keyway/server/commands/admin/facts.h"
#include "keyway/server/statistics/volume_figures.h"

namespace keyway::server {

/// Looks at the volumes whose memory this process has, and keeps what it finds. It costs a look at
/// each chunk of the heaps, so no worker does it. First before anybody reads the figures.
void look_at_volumes(Session& session, const Facts& facts, VolumeFigures& figures);
/// The elements in them now. It costs a look at each stripe.
VolumeCounts own_counts(Session& session, const Facts& facts);
/// The bytes in use when the segments were last looked at: all outside of the heap, and the part of
/// the heap that is taken.
std::uint64_t used_bytes(const VolumeFigures& figures);

}  // namespace keyway::server
