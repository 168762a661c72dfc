#include "keyway/locks/fabric/sim/sim_fabric.h"

#include <fmt/core.h>

#include <utility>

#include "keyway/locks/fabric/sim/machine_file.h"

namespace keyway::fabric {
namespace {

/// Consecutive ranks fill nodes, consecutive nodes racks. A coherent machine is one node.
Result<Topology> shaped(const sim::Machine& machine, std::uint32_t ranks) {
  if (machine.multicore) return Topology::single_node(ranks);
  const sim::Shape& shape = machine.shape;
  std::vector<std::uint32_t> node_of(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) node_of[rank] = rank / shape.ranks_per_node;
  Topology nodes = Topology::from_nodes(node_of);
  if (shape.nodes_per_rack == 0) return nodes;
  std::string racks = "rack:";
  for (std::uint32_t node = 0; node <= node_of.back(); ++node) {
    racks += fmt::format("{}{}", node == 0 ? "" : ",", node / shape.nodes_per_rack);
  }
  return Topology::override_with(racks, nodes);
}

Status check(const SimFabric::Options& options) {
  const auto bad = [](std::string message) {
    return Status(Code::kInvalidArgument, std::move(message));
  };
  if (options.ranks == 0 || options.ranks >= Address::kMaxRanks) {
    return bad(fmt::format("{} ranks: ask for 1 to {}", options.ranks, Address::kMaxRanks - 1));
  }
  if (Status status = check_agents(options.ranks, options.agents_per_rank); !status.ok()) {
    return status;
  }
  // All segments lie in this process's memory.
  constexpr std::uint64_t kMaxBytes = 1ULL << 40;
  if (options.segment_bytes > kMaxBytes / options.ranks) {
    return bad(fmt::format("{} segments of {} bytes: ask for at most {} bytes in all",
                           options.ranks, options.segment_bytes, kMaxBytes));
  }
  return sim::check_machine(options.machine);
}

}  // namespace

Result<SimFabric> SimFabric::create(const Options& options) {
  if (Status status = check(options); !status.ok()) return status;
  auto shape = shaped(options.machine, options.ranks);
  if (!shape.ok()) return shape.status();
  auto topology = Topology::override_with(options.topology, *shape);
  if (!topology.ok()) return topology.status();
  const std::uint32_t nodes = topology->level_named("node");
  if (options.machine.multicore && nodes != 0 && topology->level(nodes).elements > 1) {
    return Status(Code::kInvalidArgument, "a coherent machine is one node: give a topology of one");
  }

  SimFabric made;
  made.topology_ = std::make_unique<Topology>(std::move(*topology));
  made.segment_bytes_ = options.segment_bytes;
  made.engine_ = std::make_unique<sim::TimedEngine>(options.machine, *made.topology_,
                                                    options.segment_bytes, options.seed);
  for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
    made.slots_.push_back(std::make_unique<AgentSlots>(options.agents_per_rank));
  }
  return made;
}

Result<SimEndpoint> SimFabric::endpoint(std::uint32_t rank) {
  if (rank >= ranks()) {
    return Status(Code::kInvalidArgument, fmt::format("rank {} of {}", rank, ranks()));
  }
  auto slot = hold_slot(*slots_[rank], rank);
  if (!slot.ok()) return slot.status();
  return SimEndpoint(*engine_, std::move(*slot), rank, *topology_);
}

void SimFabric::run(const std::vector<std::uint32_t>& homes,
                    const std::function<void(std::uint32_t)>& body) {
  for (const std::uint32_t home : homes) {
    KW_CHECK_MSG(home < ranks(), "run", "an agent's home is not a rank of this fabric");
  }
  engine_->run(homes, body);
}

}  // namespace keyway::fabric
