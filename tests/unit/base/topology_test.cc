#include "keyway/locks/base/topology.h"

#include <catch2/catch.hpp>

using keyway::Code;
using keyway::Topology;

namespace {

Topology overridden(std::string_view text, const Topology& discovered) {
  auto made = Topology::override_with(text, discovered);
  INFO(made.status().message());
  REQUIRE(made.ok());
  return *made;
}

std::vector<std::uint32_t> elements(const Topology& topology, std::string_view level) {
  const auto i = topology.level_named(level);
  REQUIRE(i != 0);
  return topology.level(i).element_of;
}

}  // namespace

TEST_CASE("ranks of one machine share a node") {
  const auto topology = Topology::single_node(4);
  CHECK(topology.ranks() == 4);
  CHECK(topology.levels() == 2);
  CHECK(topology.level(1).name == "machine");
  CHECK(topology.same_node(0, 3));
  CHECK(topology.element(3, 2) == 0);
  CHECK(topology.describe() == "machine:1 node:1, 4 ranks");
}

TEST_CASE("an element knows its ranks, in order, and the first leads") {
  const auto topology = Topology::from_nodes({7, 3, 7, 3, 9});
  const auto ranks = [&](std::uint32_t level, std::uint32_t element) {
    const auto members = topology.members(level, element);
    return std::vector<std::uint32_t>(members.begin(), members.end());
  };
  CHECK(ranks(1, 0) == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  CHECK(ranks(2, 0) == std::vector<std::uint32_t>{0, 2});
  CHECK(ranks(2, 1) == std::vector<std::uint32_t>{1, 3});
  CHECK(ranks(2, 2) == std::vector<std::uint32_t>{4});
  CHECK(topology.leader(1, 0) == 0);
  CHECK(topology.leader(2, 1) == 1);
}

TEST_CASE("node ids are renumbered from 0 in the order of the ranks") {
  const auto topology = Topology::from_nodes({900, 17, 900, 4});
  CHECK(elements(topology, "node") == std::vector<std::uint32_t>{0, 1, 0, 2});
  CHECK(topology.level(2).elements == 3);
  CHECK(topology.same_node(0, 2));
  CHECK_FALSE(topology.same_node(0, 1));
}

TEST_CASE("no override leaves what was discovered") {
  const auto discovered = Topology::from_nodes({0, 0, 1});
  CHECK(overridden("", discovered).describe() == discovered.describe());
}

TEST_CASE("an override places equal runs of ranks") {
  const auto topology = overridden("racks=2,nodes=4", Topology::single_node(8));
  CHECK(topology.levels() == 3);
  CHECK(elements(topology, "rack") == std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(elements(topology, "node") == std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(topology.describe() == "machine:1 rack:2 node:4, 8 ranks");
  CHECK(topology.same_node(2, 3));
  CHECK_FALSE(topology.same_node(1, 2));
}

TEST_CASE("levels below the node are understood") {
  const auto topology = overridden("nodes=2,numa=4,cores=8", Topology::single_node(8));
  CHECK(topology.levels() == 4);
  CHECK(elements(topology, "numa") == std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(elements(topology, "core").back() == 7);
}

TEST_CASE("ranks share a node when no level is called node") {
  CHECK(overridden("racks=2", Topology::single_node(4)).same_node(0, 3));
}

TEST_CASE("racks are laid over the nodes that were discovered") {
  const auto topology = overridden("rack:0,0,1,1", Topology::from_nodes({0, 1, 2, 3, 3, 0}));
  CHECK(topology.levels() == 3);
  CHECK(elements(topology, "rack") == std::vector<std::uint32_t>{0, 0, 1, 1, 1, 0});
  CHECK(topology.level(2).elements == 2);
  CHECK(elements(topology, "node") == std::vector<std::uint32_t>{0, 1, 2, 3, 3, 0});
}

TEST_CASE("rack numbers are names: gaps and the largest number count as one rack each") {
  const auto gap = overridden("rack:0,7,0", Topology::from_nodes({0, 1, 2}));
  CHECK(gap.level(2).elements == 2);
  CHECK(elements(gap, "rack") == std::vector<std::uint32_t>{0, 1, 0});
  const auto largest = overridden("rack:4294967295,1", Topology::from_nodes({0, 1}));
  CHECK(largest.level(2).elements == 2);
}

TEST_CASE("an override that makes no sense is refused with a sentence") {
  struct Case {
    const char* text;
    const char* says;
  };
  const auto four_ranks = Topology::from_nodes({0, 0, 1, 1});
  for (const auto& [text, says] : {
           Case{"nodes", "'nodes' is not understood"},
           Case{"bananas=2", "'bananas=2' is not understood"},
           Case{"nodes=two", "'nodes=two' is not understood"},
           Case{"nodes=-2", "'nodes=-2' is not understood"},
           Case{"nodes=0", "'nodes=0' is not understood"},
           Case{"nodes=2x", "'nodes=2x' is not understood"},
           Case{"nodes=99999999999", "is not understood"},
           Case{"nodes=2,", "'' is not understood"},
           Case{"nodes=3", "4 ranks do not divide into 3 nodes"},
           Case{"nodes=4,racks=2", "order levels from coarse to fine"},
           Case{"rack:0", "2 nodes were discovered but 1 racks are listed"},
           Case{"rack:0,1,1", "2 nodes were discovered but 3 racks are listed"},
           Case{"rack:0,x", "'x' is not a rack number"},
           Case{"rack:", "'' is not a rack number"},
       }) {
    INFO(text);
    const auto made = Topology::override_with(text, four_ranks);
    REQUIRE_FALSE(made.ok());
    CHECK(made.code() == Code::kInvalidArgument);
    CHECK_THAT(std::string(made.status().message()), Catch::Contains(says));
  }
}

TEST_CASE("levels that do not nest are refused") {
  // 12 ranks: racks are runs of 4, nodes runs of 3, so node 1 would lie in two racks.
  const auto made = Topology::override_with("racks=3,nodes=4", Topology::single_node(12));
  REQUIRE_FALSE(made.ok());
  CHECK_THAT(std::string(made.status().message()), Catch::Contains("node 1 lies in two racks"));
}

TEST_CASE("the host has at least one of everything") {
  const auto host = keyway::discover_host();
  CHECK(host.cores >= 1);
  CHECK(host.numa_nodes >= 1);
  CHECK(host.packages >= 1);
  CHECK(host.cores >= host.packages);
  CHECK(host.memory_bytes > 0);
}
