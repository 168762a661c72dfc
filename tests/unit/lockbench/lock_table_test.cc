// The places of a run's locks, all different, spread by the stride; and the choice of an agent.
#include "tools/lockbench/lock_draw.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

using namespace keyway;
using namespace keyway::lockbench;

namespace {

struct Shape {
  std::uint32_t ranks;
  std::uint32_t stride;
  std::uint32_t locks;
  std::uint32_t home;
};

LockTable table_of(const Shape& shape) {
  RunOptions options;
  options.locks = shape.locks;
  options.stride = shape.stride;
  options.home = shape.home;
  const auto plan = make_plan(options, shape.ranks);
  REQUIRE(plan.ok());
  return LockTable(*plan);
}

}  // namespace

TEST_CASE("each lock has a place of its own, within its rank's segment") {
  for (const Shape& shape : {Shape{240, 12, 1000, 0}, Shape{240, 12, 20, 7}, Shape{7, 1, 23, 3},
                             Shape{8, 8, 30, 5}, Shape{6, 2, 6, 0}}) {
    const LockTable table = table_of(shape);
    std::set<std::pair<std::uint32_t, std::uint64_t>> places;
    for (std::uint32_t k = 0; k < table.size(); ++k) {
      const fabric::Address line = table.site(k).line;
      CHECK(line.rank() < shape.ranks);
      CHECK(line.offset() < table.segment_bytes());
      places.emplace(line.rank(), line.offset());
    }
    CHECK(places.size() == shape.locks);
    CHECK(table.home(0) == shape.home);
  }
}

TEST_CASE("with a node's ranks as the stride, all nodes have as many locks") {
  for (const std::uint32_t locks : {20U, 100U, 1000U}) {
    const LockTable table = table_of({.ranks = 240, .stride = 12, .locks = locks, .home = 0});
    std::vector<std::uint32_t> on_node(20);
    for (std::uint32_t k = 0; k < locks; ++k) ++on_node[table.home(k) / 12];
    CHECK(on_node == std::vector<std::uint32_t>(20, locks / 20));
  }
}

namespace {

/// The first draws of an agent at `rank`, on 20 nodes of 12 ranks.
std::vector<std::uint32_t> draws_of(std::uint32_t rank, const char* draws, std::uint32_t locks,
                                    double locality, std::uint64_t own_seed) {
  RunOptions options;
  options.locks = locks;
  options.stride = 12;
  options.draws = draws;
  options.locality = locality;
  const auto plan = make_plan(options, 240);
  REQUIRE(plan.ok());
  std::vector<std::uint32_t> node_of(240);
  for (std::uint32_t r = 0; r < 240; ++r) node_of[r] = r / 12;
  LockDraw draw(*plan, LockTable(*plan), Topology::from_nodes(node_of), rank);
  Rng own(own_seed);
  std::vector<std::uint32_t> drawn(2000);
  for (std::uint32_t& lock : drawn) lock = draw.next(own);
  return drawn;
}

/// With a stride of 12, lock k lies on node k % 20.
std::set<std::uint32_t> far_nodes(const std::vector<std::uint32_t>& drawn, std::uint32_t own) {
  std::set<std::uint32_t> nodes;
  for (const std::uint32_t lock : drawn) nodes.insert(lock % 20);
  nodes.erase(own);
  return nodes;
}

}  // namespace

TEST_CASE("an agent that draws for itself takes as many local locks as it was told") {
  const auto drawn = draws_of(25, "own", 100, 0.9, 1);
  const auto local = std::count_if(drawn.begin(), drawn.end(), [](auto k) { return k % 20 == 2; });
  CHECK(local > 1700);
  CHECK(local < 1900);
  CHECK(far_nodes(drawn, 2).size() == 19);
  CHECK(draws_of(26, "own", 100, 0.9, 2) != drawn);
}

TEST_CASE("as published, a node's agents draw alike and remote accesses meet at few locks") {
  CHECK(draws_of(25, "published", 100, 0.95, 1) == draws_of(26, "published", 100, 0.95, 2));
  CHECK(far_nodes(draws_of(25, "published", 20, 0.85, 1), 2).empty());
  CHECK(far_nodes(draws_of(25, "published", 100, 0.95, 1), 2) == std::set<std::uint32_t>{19});
  CHECK(far_nodes(draws_of(25, "published", 100, 0.85, 1), 2) ==
        std::set<std::uint32_t>{17, 18, 19});
}
