// CLUSTER ...: properties that ranks of a job do not have (links, replicas), and commands that
// would change them.
#include <fmt/core.h>

#include <algorithm>

#include "keyway/server/commands/cluster/cluster.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

constexpr std::string_view kMoves =
    "Moves slots of a Redis cluster; Keyway's slots stay with their ranks.";
constexpr std::string_view kManages =
    "Manages nodes or replicas of a Redis cluster; a Keyway job has a fixed set of ranks.";

/// Whether the node exists; if not, replies with the error.
bool is_node_or_error(const Call& call, const ClusterView& view, std::string_view id) {
  const bool known = std::any_of(view.nodes.begin(), view.nodes.end(),
                                 [id](const ClusterNode& node) { return node.id == id; });
  if (!known) call.error(fmt::format("ERR Unknown node {}", id));
  return known;
}

/// There is no bus between ranks, so there are no links.
void run_cluster_links(const Call& call) {
  if (cluster_or_error(call) != nullptr) call.out.array(0);
}

void run_cluster_replicas(const Call& call) {
  const ClusterView* view = cluster_or_error(call);
  if (view == nullptr || !is_node_or_error(call, *view, call.word(2))) return;
  call.out.array(0);
}

void run_cluster_count_failure_reports(const Call& call) {
  const ClusterView* view = cluster_or_error(call);
  if (view == nullptr || !is_node_or_error(call, *view, call.word(2))) return;
  call.out.integer(0);
}

/// For all commands that would change the owners of slots.
void run_cluster_fixed(const Call& call) {
  if (cluster_or_error(call) == nullptr) return;
  call.error("ERR Slots belong to the ranks of this job for as long as it runs");
}

constexpr Command refused(std::string_view name, int arity, std::string_view arguments,
                          std::string_view summary) {
  return {.name = name,
          .arity = arity,
          .group = Group::kCluster,
          .flags = kAdmin | kStale | kNoAsyncLoading,
          .run = run_cluster_fixed,
          .arguments = arguments,
          .summary = summary};
}

}  // namespace

CommandRows commands_of_cluster_fixed() {
  static constexpr auto kRows = checked({
      {.name = "cluster|links",
       .arity = 2,
       .group = Group::kCluster,
       .flags = kStale,
       .run = run_cluster_links,
       .tips = "nondeterministic_output",
       .summary = "Returns the links between nodes of a Redis cluster; Keyway has none."},
      {.name = "cluster|replicas",
       .arity = 3,
       .group = Group::kCluster,
       .flags = kAdmin | kStale,
       .run = run_cluster_replicas,
       .tips = "nondeterministic_output",
       .arguments = "node",
       .summary = kManages},
      {.name = "cluster|slaves",
       .arity = 3,
       .group = Group::kCluster,
       .flags = kAdmin | kStale,
       .run = run_cluster_replicas,
       .tips = "nondeterministic_output",
       .arguments = "node",
       .summary = kManages},
      {.name = "cluster|count-failure-reports",
       .arity = 3,
       .group = Group::kCluster,
       .flags = kAdmin | kStale,
       .run = run_cluster_count_failure_reports,
       .tips = "nondeterministic_output",
       .arguments = "node",
       .summary = kManages},
      {.name = "cluster|bumpepoch",
       .arity = 2,
       .group = Group::kCluster,
       .flags = kAdmin | kStale | kNoAsyncLoading,
       .run = run_cluster_fixed,
       .tips = "nondeterministic_output",
       .summary = kManages},
      {.name = "cluster|reset",
       .arity = -2,
       .group = Group::kCluster,
       .flags = kAdmin | kNoScript | kStale,
       .run = run_cluster_fixed,
       .arguments = "[HARD | SOFT]",
       .summary = kManages},
      refused("cluster|addslots", -3, "slot [slot ...]", kMoves),
      refused("cluster|addslotsrange", -4, "start end [start end ...]", kMoves),
      refused("cluster|delslots", -3, "slot [slot ...]", kMoves),
      refused("cluster|delslotsrange", -4, "start end [start end ...]", kMoves),
      refused("cluster|failover", -2, "[FORCE | TAKEOVER]", kManages),
      refused("cluster|flushslots", 2, "", kMoves),
      refused("cluster|forget", 3, "node", kManages),
      refused("cluster|meet", -4, "ip port [port]", kManages),
      refused("cluster|replicate", 3, "node", kManages),
      refused("cluster|saveconfig", 2, "", kManages),
      refused("cluster|set-config-epoch", 3, "epoch", kManages),
      refused("cluster|setslot", -4, "slot [IMPORTING node | MIGRATING node | NODE node | STABLE]",
              kMoves),
  });
  return kRows;
}

}  // namespace keyway::server
