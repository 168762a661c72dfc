// Rows of the table of commands: the subcommands for whoever runs the service.
//
// *Thread safety.* Constants.
#pragma once

#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/handlers.h"

namespace keyway::server {

// For whoever runs the service.
inline constexpr std::uint32_t kOfServer = kAdmin | kLoading | kStale | kAside;
inline constexpr std::uint32_t kOfConfig = kOfServer | kNoScript;

inline constexpr std::string_view kOfAllNodes =
    "request_policy:all_nodes response_policy:all_succeeded";
inline constexpr std::string_view kOfLatency =
    "nondeterministic_output request_policy:all_nodes response_policy:special";

inline constexpr std::string_view kOfAllShards =
    "request_policy:all_shards response_policy:all_succeeded";
inline constexpr std::string_view kOfMemory =
    "nondeterministic_output request_policy:all_shards response_policy:special";

inline constexpr Command kConfigRows[] = {
    {"config|get", -3, Group::kServer, kOfConfig, {}, "", "", run_config_get},
    {"config|help", 2, Group::kServer, kLoading | kStale, {}, "", "", run_config_help},
    {"config|resetstat", 2, Group::kServer, kOfConfig, {}, "", "", run_config_resetstat},
    {"config|rewrite", 2, Group::kServer, kOfConfig, {}, "", "", run_config_rewrite},
    {"config|set", -4, Group::kServer, kOfConfig, {}, "", kOfAllNodes, run_config_set},
};

inline constexpr Command kLatencyRows[] = {
    {"latency|doctor", 2, Group::kServer, kOfConfig, {}, "", kOfLatency, run_latency_doctor},
    {"latency|graph", 3, Group::kServer, kOfConfig, {}, "", kOfLatency, run_latency_graph},
    {"latency|help", 2, Group::kServer, kLoading | kStale, {}, "", "", run_latency_help},
    {"latency|histogram", -2, Group::kServer, kOfConfig, {}, "", kOfLatency, run_latency_histogram},
    {"latency|history", 3, Group::kServer, kOfConfig, {}, "", kOfLatency, run_latency_history},
    {"latency|latest", 2, Group::kServer, kOfConfig, {}, "", kOfLatency, run_latency_latest},
    {"latency|reset", -2, Group::kServer, kOfConfig, {}, "", kOfAllNodes, run_latency_reset},
};

inline constexpr Command kMemoryRows[] = {
    {"memory|doctor", 2, Group::kServer, 0, {}, "", kOfMemory, run_memory_doctor},
    {"memory|help", 2, Group::kServer, kLoading | kStale, {}, "", "", run_memory_help},
    {"memory|malloc-stats", 2, Group::kServer, 0, {}, "", kOfMemory, run_memory_malloc_stats},
    {"memory|purge", 2, Group::kServer, 0, {}, "", kOfAllShards, run_memory_purge},
    {"memory|stats", 2, Group::kServer, 0, {}, "", kOfMemory, run_memory_stats},
    {"memory|usage", -3, Group::kServer, kReadOnly, {2, 2, 1}, "RO", "", run_memory_usage},
};

inline constexpr Command kSlowlogRows[] = {
    {"slowlog|get",
     -2,
     Group::kServer,
     kOfServer,
     {},
     "",
     "request_policy:all_nodes nondeterministic_output",
     run_slowlog_get},
    {"slowlog|help", 2, Group::kServer, kLoading | kStale, {}, "", "", run_slowlog_help},
    {"slowlog|len",
     2,
     Group::kServer,
     kOfServer,
     {},
     "",
     "request_policy:all_nodes response_policy:agg_sum nondeterministic_output",
     run_slowlog_len},
    {"slowlog|reset", 2, Group::kServer, kOfServer, {}, "", kOfAllNodes, run_slowlog_reset},
};

}  // namespace keyway::server
