// CLUSTER ..., READONLY, READWRITE, ASKING.
//
// Clients of Redis Cluster learn here where each slot's rank is, and can go there for locality.
// They need not: any rank serves any key.
//
// A client of the cluster sends SCAN, KEYS, DBSIZE and FLUSHALL to every rank and adds up the
// answers, so each rank answers for its own keys only. Other clients ask one rank about the whole
// store. A connection belongs to a client of the cluster if it uses a port that only CLUSTER SLOTS,
// SHARDS and NODES return, or has sent CLUSTER NODES, READONLY, READWRITE or ASKING: redis-cli
// --cluster sends NODES on the connection that it was given, and continues there. SLOTS and SHARDS
// do not mark the connection: clients send them to a seed, and people to inspect the cluster.

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "keyway/server/commands/cluster/cluster.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/help.h"

namespace keyway::server {
namespace {

std::uint32_t nodes_in(const ClusterView& view) {
  return static_cast<std::uint32_t>(view.nodes.size());
}

/// The view, for a client of the cluster.
const ClusterView* view_of_client_or_error(const Call& call) {
  const ClusterView* view = cluster_or_error(call);
  if (view != nullptr) call.client.of_cluster = true;
  return view;
}

std::string_view host_for(const Call& call, const ClusterView& view, const ClusterNode& node) {
  return node.host_for(view.nodes[view.self], call.client.local_address);
}

/// Calls visit(node, slots) for each node, in the order of ranks.
template <class Visit>
void for_each_node(const ClusterView& view, Visit&& visit) {
  for (std::uint32_t i = 0; i < nodes_in(view); ++i) {
    visit(view.nodes[i], slots_of_rank(i, nodes_in(view)));
  }
}

std::optional<std::uint32_t> slot_of_integer(std::int64_t slot) {
  if (slot < 0 || slot >= store::kSlots) return std::nullopt;
  return static_cast<std::uint32_t>(slot);
}

/// Shows the keys of a slot, until `visit` returns false. Reads only the slot's rank.
template <class Visit>
Status for_each_key_of(const Call& call, std::uint32_t slot, Visit&& visit) {
  constexpr std::uint64_t kAtOnce = 1024;
  const std::uint32_t rank = store::owner_of_slot(slot, call.service.cluster.ranks);
  bool go_on = true;
  const auto look_at = [&](std::string_view key, std::string_view) {
    if (go_on && store::slot_of(key) == slot) go_on = visit(key);
  };
  std::uint64_t cursor = 0;
  do {
    const auto next = call.session.whole().scan_rank(rank, cursor, kAtOnce, look_at);
    if (!next.ok()) return next.status();
    cursor = *next;
  } while (go_on && cursor != 0);
  return {};
}

void reply_shard_node(resp::ReplyWriter& out, const ClusterNode& node, std::string_view host) {
  out.map(6U + (node.port != 0 ? 1 : 0) + (node.tls_port != 0 ? 1 : 0));
  out.bulk("id");
  out.bulk(node.id);
  if (node.port != 0) {
    out.bulk("port");
    out.integer(node.port);
  }
  if (node.tls_port != 0) {
    out.bulk("tls-port");
    out.integer(node.tls_port);
  }
  out.bulk("ip");
  out.bulk(host);
  out.bulk("endpoint");
  out.bulk(host);
  out.bulk("role");
  out.bulk("master");
  out.bulk("replication-offset");
  out.integer(0);
  out.bulk("health");
  out.bulk("online");
}

void run_cluster_slots(const Call& call) {
  const ClusterView* view = cluster_or_error(call);
  if (view == nullptr) return;
  call.out.array(view->nodes.size());
  for_each_node(*view, [&](const ClusterNode& node, SlotRange slots) {
    call.out.array(3);
    call.out.integer(slots.first);
    call.out.integer(slots.last);
    call.out.array(4);
    call.out.bulk(host_for(call, *view, node));
    call.out.integer(node.port_for(call.client.tls));
    call.out.bulk(node.id);
    call.out.map(0);
  });
}

void run_cluster_shards(const Call& call) {
  const ClusterView* view = cluster_or_error(call);
  if (view == nullptr) return;
  call.out.array(view->nodes.size());
  for_each_node(*view, [&](const ClusterNode& node, SlotRange slots) {
    call.out.map(2);
    call.out.bulk("slots");
    call.out.array(2);
    call.out.integer(slots.first);
    call.out.integer(slots.last);
    call.out.bulk("nodes");
    call.out.array(1);
    reply_shard_node(call.out, node, host_for(call, *view, node));
  });
}

/// Ranks exchange no pings, and their epochs, which differ as Redis wants them to, never change.
void run_cluster_nodes(const Call& call) {
  const ClusterView* view = view_of_client_or_error(call);
  if (view == nullptr) return;
  constexpr std::uint32_t kBusOffset = 10'000;  // Redis' bus is at the port plus this; here is none
  std::string text;
  std::uint32_t epoch = 0;
  for_each_node(*view, [&](const ClusterNode& node, SlotRange slots) {
    const std::uint32_t port = node.port_for(call.client.tls);
    text += fmt::format("{} {}:{}@{} {}master - 0 0 {} connected {}-{}\n", node.id,
                        host_for(call, *view, node), port, port + kBusOffset,
                        epoch == view->self ? "myself," : "", epoch, slots.first, slots.last);
    ++epoch;
  });
  call.out.verbatim("txt", text);
}

void run_cluster_info(const Call& call) {
  const ClusterView* view = cluster_or_error(call);
  if (view == nullptr) return;
  call.out.verbatim("txt",
                    fmt::format("cluster_state:ok\r\n"
                                "cluster_slots_assigned:{0}\r\n"
                                "cluster_slots_ok:{0}\r\n"
                                "cluster_slots_pfail:0\r\n"
                                "cluster_slots_fail:0\r\n"
                                "cluster_known_nodes:{1}\r\n"
                                "cluster_size:{1}\r\n"
                                "cluster_current_epoch:{2}\r\n"
                                "cluster_my_epoch:{3}\r\n"
                                "cluster_stats_messages_sent:0\r\n"
                                "cluster_stats_messages_received:0\r\n"
                                "total_cluster_links_buffer_limit_exceeded:0\r\n",
                                store::kSlots, nodes_in(*view), nodes_in(*view) - 1, view->self));
}

void run_cluster_myid(const Call& call) {
  const ClusterView* view = cluster_or_error(call);
  if (view != nullptr) call.out.bulk(view->nodes[view->self].id);
}

void run_cluster_keyslot(const Call& call) {
  if (cluster_or_error(call) != nullptr) call.out.integer(store::slot_of(call.word(2)));
}

/// At the cost of a walk over the rank's elements: no list of a slot's keys is kept.
void run_cluster_countkeysinslot(const Call& call) {
  if (cluster_or_error(call) == nullptr) return;
  const auto given = integer_or_error(call, 2);
  if (!given) return;
  const auto slot = slot_of_integer(*given);
  if (!slot) return call.error("ERR Invalid slot");
  std::int64_t count = 0;
  const Status status = for_each_key_of(call, *slot, [&count](std::string_view) {
    ++count;
    return true;
  });
  if (!status.ok()) return call.failed(status);
  call.out.integer(count);
}

void run_cluster_getkeysinslot(const Call& call) {
  if (cluster_or_error(call) == nullptr) return;
  const auto given = integer_or_error(call, 2);
  if (!given) return;
  const auto most = integer_or_error(call, 3);
  if (!most) return;
  const auto slot = slot_of_integer(*given);
  if (!slot || *most < 0) return call.error("ERR Invalid slot or number of keys");
  std::vector<std::string> keys;
  const auto is_full = [&] { return keys.size() == static_cast<std::uint64_t>(*most); };
  const Status status = is_full() ? Status() : for_each_key_of(call, *slot, [&](auto key) {
    keys.emplace_back(key);
    return !is_full();
  });
  if (!status.ok()) return call.failed(status);
  call.out.array(keys.size());
  for (const std::string& key : keys) call.out.bulk(key);
}

void run_cluster_help(const Call& call) {
  if (cluster_or_error(call) == nullptr) return;
  reply_help(call, "CLUSTER",
             {"COUNT-FAILURE-REPORTS <node-id>",
              "    Return number of failure reports for <node-id>.",
              "COUNTKEYSINSLOT <slot>",
              "    Return the number of keys in <slot>.",
              "GETKEYSINSLOT <slot> <count>",
              "    Return key names stored by current node in a slot.",
              "INFO",
              "    Return information about the cluster.",
              "KEYSLOT <key>",
              "    Return the hash slot for <key>.",
              "MYID",
              "    Return the node id.",
              "NODES",
              "    Return cluster configuration seen by node. Output format:",
              "    <id> <ip:port> <flags> <master> <pings> <pongs> <epoch> <link> <slot> ...",
              "REPLICAS <node-id>",
              "    Return <node-id> replicas.",
              "SLOTS",
              "    Return information about slots range mappings. Each range is made of:",
              "    start, end, master and replicas IP addresses, ports and ids",
              "SHARDS",
              "    Return information about slot range mappings and the nodes associated with "
              "them.",
              "LINKS",
              "    Return information about all network links between this node and its "
              "peers.",
              "    Output format is an array where each array element is a map containing "
              "attributes of a link"});
}

/// Every rank serves every key for reading and for writing, in any mode.
void run_cluster_mode(const Call& call) {
  if (view_of_client_or_error(call) != nullptr) call.ok();
}

}  // namespace

const ClusterView* cluster_or_error(const Call& call) {
  if (call.service.cluster.enabled) return &call.service.cluster;
  call.error("ERR This instance has cluster support disabled");
  return nullptr;
}

CommandRows commands_of_cluster_cluster() {
  static constexpr auto kRows = checked({
      {.name = "cluster", .arity = -2, .group = Group::kCluster, .flags = kContainer},
      {.name = "readonly",
       .arity = 1,
       .group = Group::kCluster,
       .category = Category::kConnection,
       .flags = kLoading | kStale | kFast,
       .run = run_cluster_mode,
       .summary = "Enables reads on a replica of a Redis cluster; Keyway has no replicas."},
      {.name = "readwrite",
       .arity = 1,
       .group = Group::kCluster,
       .category = Category::kConnection,
       .flags = kLoading | kStale | kFast,
       .run = run_cluster_mode,
       .summary = "Ends READONLY."},
      {.name = "asking",
       .arity = 1,
       .group = Group::kCluster,
       .category = Category::kConnection,
       .flags = kFast,
       .run = run_cluster_mode,
       .summary = "Announces a redirected request in a Redis cluster; Keyway never asks for it."},
      {.name = "cluster|countkeysinslot",
       .arity = 3,
       .group = Group::kCluster,
       .flags = kStale | kWholeStore,
       .run = run_cluster_countkeysinslot,
       .arguments = "slot",
       .summary = "Returns the number of keys in a slot."},
      {.name = "cluster|getkeysinslot",
       .arity = 4,
       .group = Group::kCluster,
       .flags = kStale | kWholeStore,
       .run = run_cluster_getkeysinslot,
       .tips = "nondeterministic_output",
       .arguments = "slot count",
       .summary = "Returns keys of a slot."},
      {.name = "cluster|help",
       .arity = 2,
       .group = Group::kCluster,
       .flags = kLoading | kStale,
       .run = run_cluster_help},
      {.name = "cluster|info",
       .arity = 2,
       .group = Group::kCluster,
       .flags = kStale,
       .run = run_cluster_info,
       .tips = "nondeterministic_output",
       .summary = "Returns the state of the cluster."},
      {.name = "cluster|keyslot",
       .arity = 3,
       .group = Group::kCluster,
       .flags = kStale,
       .run = run_cluster_keyslot,
       .arguments = "key",
       .summary = "Returns the slot of a key, which determines its owner."},
      {.name = "cluster|myid",
       .arity = 2,
       .group = Group::kCluster,
       .flags = kStale,
       .run = run_cluster_myid,
       .summary = "Returns the node id of this rank."},
      {.name = "cluster|nodes",
       .arity = 2,
       .group = Group::kCluster,
       .flags = kStale,
       .run = run_cluster_nodes,
       .tips = "nondeterministic_output",
       .summary = "Lists the ranks, one per line."},
      {.name = "cluster|shards",
       .arity = 2,
       .group = Group::kCluster,
       .flags = kStale,
       .run = run_cluster_shards,
       .tips = "nondeterministic_output",
       .summary = "Returns the ranks and the slots of each."},
      {.name = "cluster|slots",
       .arity = 2,
       .group = Group::kCluster,
       .flags = kStale,
       .run = run_cluster_slots,
       .tips = "nondeterministic_output",
       .summary = "Returns the ranges of slots and the rank that owns each."},
  });
  return kRows;
}

}  // namespace keyway::server
