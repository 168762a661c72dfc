#include "keyway/locks/base/topology.h"

#include <fmt/core.h>
#include <hwloc.h>

#include <algorithm>
#include <map>

#include "keyway/locks/base/text_values.h"

namespace keyway {
namespace {

Topology::Level whole_machine(std::size_t ranks) {
  return {"machine", std::vector<std::uint32_t>(ranks, 0), 1};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

Status bad_topology(std::string_view text, std::string_view why) {
  return {Code::kInvalidArgument,
          fmt::format("topology '{}': {}; write e.g. nodes=4, racks=2,nodes=4 or rack:0,0,1,1",
                      text, why)};
}

// "racks=2,nodes=4": equal runs of ranks at every level named, coarse to fine.
Result<std::vector<Topology::Level>> equal_runs(std::string_view text, std::uint32_t ranks) {
  std::vector<Topology::Level> levels{whole_machine(ranks)};
  static const std::map<std::string_view, std::string> names = {
      {"racks", "rack"}, {"nodes", "node"}, {"numa", "numa"}, {"cores", "core"}};
  for (const auto part : split(text, ',')) {
    const auto equals = part.find('=');
    const auto name = names.find(part.substr(0, equals));
    std::uint32_t count = 0;
    if (equals == std::string_view::npos || name == names.end() ||
        !set_from(count, whole_number<std::uint32_t>(part.substr(equals + 1))) || count == 0) {
      return bad_topology(text, fmt::format("'{}' is not understood", part));
    }
    if (ranks % count != 0) {
      return bad_topology(text, fmt::format("{} ranks do not divide into {} {}", ranks, count,
                                            part.substr(0, equals)));
    }
    Topology::Level level{name->second, {}, count};
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      level.element_of.push_back(rank / (ranks / count));
    }
    levels.push_back(std::move(level));
  }
  return levels;
}

// "rack:0,0,1,1": a rack level above the discovered nodes.
Result<std::vector<Topology::Level>> racks_of_nodes(std::string_view text,
                                                    const Topology& discovered) {
  const std::uint32_t node_level = discovered.level_named("node");
  if (node_level == 0) return bad_topology(text, "no node level was discovered");
  const auto& nodes = discovered.level(node_level);
  std::vector<std::uint32_t> rack_of_node;
  std::map<std::uint32_t, std::uint32_t> dense;  // rack numbers are names: rack:3,7 has two racks
  for (const auto part : split(text.substr(text.find(':') + 1), ',')) {
    std::uint32_t rack = 0;
    if (!set_from(rack, whole_number<std::uint32_t>(part))) {
      return bad_topology(text, fmt::format("'{}' is not a rack number", part));
    }
    rack_of_node.push_back(
        dense.try_emplace(rack, static_cast<std::uint32_t>(dense.size())).first->second);
  }
  if (rack_of_node.size() != nodes.elements) {
    return bad_topology(text, fmt::format("{} nodes were discovered but {} racks are listed",
                                          nodes.elements, rack_of_node.size()));
  }
  Topology::Level racks{"rack", {}, static_cast<std::uint32_t>(dense.size())};
  for (const auto node : nodes.element_of) racks.element_of.push_back(rack_of_node[node]);
  return std::vector<Topology::Level>{whole_machine(discovered.ranks()), racks, nodes};
}

}  // namespace

Topology::Topology(std::vector<Level> levels) : levels_(std::move(levels)) {
  for (const Level& level : levels_) {
    Members of;
    of.first.assign(level.elements + 1, 0);
    for (const auto element : level.element_of) ++of.first[element + 1];
    for (std::size_t j = 1; j < of.first.size(); ++j) of.first[j] += of.first[j - 1];
    of.ranks.resize(level.element_of.size());
    std::vector<std::size_t> next = of.first;
    for (std::uint32_t rank = 0; rank < level.element_of.size(); ++rank) {
      of.ranks[next[level.element_of[rank]]++] = rank;
    }
    members_.push_back(std::move(of));
  }
}

Result<Topology> Topology::make(std::vector<Level> levels) {
  for (std::size_t i = 1; i < levels.size(); ++i) {
    std::map<std::uint32_t, std::uint32_t> parent_of;
    for (std::size_t rank = 0; rank < levels[i].element_of.size(); ++rank) {
      const auto parent = levels[i - 1].element_of[rank];
      const auto [entry, fresh] = parent_of.try_emplace(levels[i].element_of[rank], parent);
      if (!fresh && entry->second != parent) {
        return Status(
            Code::kInvalidArgument,
            fmt::format("topology: {} {} lies in two {}s; order levels from coarse to fine",
                        levels[i].name, entry->first, levels[i - 1].name));
      }
    }
  }
  return Topology(std::move(levels));
}

Topology Topology::single_node(std::uint32_t ranks) {
  return from_nodes(std::vector<std::uint32_t>(ranks, 0));
}

Topology Topology::from_nodes(const std::vector<std::uint32_t>& node_of_rank) {
  KW_CHECK(!node_of_rank.empty());
  std::map<std::uint32_t, std::uint32_t> dense;
  Level nodes{"node", {}, 0};
  for (const auto node : node_of_rank) {
    const auto id = dense.try_emplace(node, static_cast<std::uint32_t>(dense.size())).first->second;
    nodes.element_of.push_back(id);
  }
  nodes.elements = static_cast<std::uint32_t>(dense.size());
  return Topology({whole_machine(node_of_rank.size()), std::move(nodes)});
}

Result<Topology> Topology::override_with(std::string_view text, const Topology& discovered) {
  if (text.empty()) return discovered;
  auto levels = text.starts_with("rack:") ? racks_of_nodes(text, discovered)
                                          : equal_runs(text, discovered.ranks());
  if (!levels.ok()) return levels.status();
  return make(std::move(*levels));
}

std::uint32_t Topology::level_named(std::string_view name) const {
  for (std::uint32_t i = 1; i <= levels(); ++i) {
    if (level(i).name == name) return i;
  }
  return 0;
}

bool Topology::same_node(std::uint32_t a, std::uint32_t b) const {
  const std::uint32_t i = level_named("node");
  return i == 0 || element(a, i) == element(b, i);
}

std::string Topology::describe() const {
  std::string text;
  for (const auto& level : levels_) text += fmt::format("{}:{} ", level.name, level.elements);
  text.back() = ',';
  return text + fmt::format(" {} rank{}", ranks(), ranks() == 1 ? "" : "s");
}

HostShape discover_host() {
  HostShape shape;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return shape;
  if (hwloc_topology_load(topology) == 0) {
    const auto count = [&](hwloc_obj_type_t type) {
      return static_cast<std::uint32_t>(std::max(1, hwloc_get_nbobjs_by_type(topology, type)));
    };
    shape.cores = count(HWLOC_OBJ_PU);
    shape.numa_nodes = count(HWLOC_OBJ_NUMANODE);
    shape.packages = count(HWLOC_OBJ_PACKAGE);
    shape.memory_bytes = hwloc_get_root_obj(topology)->total_memory;
  }
  hwloc_topology_destroy(topology);
  return shape;
}

}  // namespace keyway
