// The rows of CLUSTER: those that tell clients where slots are, and those that would change it.
#include "keyway/server/commands/engine/handlers.h"
#include "keyway/server/commands/engine/table_rows.h"

namespace keyway::server {
namespace {

/// What anybody may ask.
constexpr Command asks(std::string_view name, int arity, std::string_view tips,
                       void (*run)(const Call&), std::uint32_t flags = kStale) {
  return {name, arity, Group::kServer, flags, {}, "", tips, run};
}
/// What would change who owns a slot.
constexpr Command changes(std::string_view name, int arity, std::string_view tips = "",
                          std::uint32_t flags = kAdmin | kStale | kNoAsyncLoading) {
  return {name, arity, Group::kServer, flags, {}, "", tips, run_cluster_fixed};
}

constexpr Command kClusterRows[] = {
    changes("cluster|addslots", -3),
    changes("cluster|addslotsrange", -4),
    changes("cluster|bumpepoch", 2, kVaries),
    asks("cluster|count-failure-reports", 3, kVaries, run_cluster_count_failure_reports,
         kAdmin | kStale),
    asks("cluster|countkeysinslot", 3, "", run_cluster_countkeysinslot),
    changes("cluster|delslots", -3),
    changes("cluster|delslotsrange", -4),
    changes("cluster|failover", -2),
    changes("cluster|flushslots", 2),
    changes("cluster|forget", 3),
    asks("cluster|getkeysinslot", 4, kVaries, run_cluster_getkeysinslot),
    asks("cluster|help", 2, "", run_cluster_help, kLoading | kStale),
    asks("cluster|info", 2, kVaries, run_cluster_info),
    asks("cluster|keyslot", 3, "", run_cluster_keyslot),
    asks("cluster|links", 2, kVaries, run_cluster_links),
    changes("cluster|meet", -4),
    asks("cluster|myid", 2, "", run_cluster_myid),
    asks("cluster|nodes", 2, kVaries, run_cluster_nodes),
    asks("cluster|replicas", 3, kVaries, run_cluster_replicas, kAdmin | kStale),
    changes("cluster|replicate", 3),
    changes("cluster|reset", -2, "", kAdmin | kNoScript | kStale),
    changes("cluster|saveconfig", 2),
    changes("cluster|set-config-epoch", 3),
    changes("cluster|setslot", -4),
    asks("cluster|shards", 2, kVaries, run_cluster_shards),
    asks("cluster|slaves", 3, kVaries, run_cluster_replicas, kAdmin | kStale),
    asks("cluster|slots", 2, kVaries, run_cluster_slots),
};

}  // namespace

std::span<const Command> cluster_rows() { return kClusterRows; }

}  // namespace keyway::server
