// Where the locks of a run lie: each in a place of its own, and spread as the stride says.
#include "lock_table.h"

#include <catch2/catch.hpp>
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
