// The picture of LATENCY GRAPH.
//
// *Thread safety.* A function of its arguments.
// *Source.* Redis 7.0, sparkline.c and latency.c: four rows, a column for each sample, and below it
// how long ago that was.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "keyway/server/statistics/latency_events.h"

namespace keyway::server {

/// There is one sample at least, none of them later than `now_s`.
std::string latency_graph(std::string_view event, const LatencyEvents::History& history,
                          std::uint64_t now_s);

}  // namespace keyway::server
