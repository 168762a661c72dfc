#include "keyway/server/statistics/hot_spots.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

namespace keyway::server {
namespace {

HotReport report_of(const HotSpots& spots, Spot spot, Access access) {
  HotReport report;
  spots.add_to(report, spot, access);
  keep_top(report.entries, 10);
  return report;
}

TEST_CASE("hot spots: about one request in so many is looked at, at no fixed distance") {
  HotSpots spots(1, 10);
  int looked = 0;
  int same_distance = 0;
  int last = 0;
  int distance = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (!spots.due()) continue;
    ++looked;
    same_distance += i - last == distance ? 1 : 0;
    distance = i - last;
    last = i;
  }
  CHECK(looked > 9'000);
  CHECK(looked < 11'000);
  CHECK(same_distance < looked / 10);
}

TEST_CASE("hot spots: reads and writes, keys and stripes apart") {
  HotSpots spots(1);
  spots.add(Access::kRead, "r", "0:1");
  spots.add(Access::kRead, "r", "0:1");
  spots.add(Access::kWrite, "w", "0:2");
  const HotReport reads = report_of(spots, Spot::kKey, Access::kRead);
  REQUIRE(reads.entries.size() == 1);
  CHECK(reads.entries[0].name == "r");
  CHECK(reads.samples == 2);
  CHECK(report_of(spots, Spot::kKey, Access::kWrite).entries[0].name == "w");
  CHECK(report_of(spots, Spot::kStripe, Access::kRead).entries[0].name == "0:1");
  CHECK(report_of(spots, Spot::kStripe, Access::kWrite).entries[0].name == "0:2");
  spots.clear();
  CHECK(report_of(spots, Spot::kKey, Access::kRead).samples == 0);
}

// S1: counts that collide with a reader are dropped, and nothing else is lost or torn.
TEST_CASE("hot spots: may be read while they are counted") {
  HotSpots spots(1);
  std::atomic<bool> done{false};
  std::thread worker([&] {
    for (int i = 0; i < 20'000; ++i) spots.add(Access::kWrite, "key", "0:7");
    done.store(true, std::memory_order_release);  // publishes its counts to the loop below
  });
  bool torn = false;
  while (!done.load(std::memory_order_acquire)) {
    for (const HeavyHitter& entry : report_of(spots, Spot::kKey, Access::kWrite).entries) {
      torn = torn || entry.name != "key" || entry.count > 20'000;
    }
  }
  worker.join();
  CHECK_FALSE(torn);
  spots.add(Access::kWrite, "key", "0:7");
  CHECK(report_of(spots, Spot::kKey, Access::kWrite).samples >= 1);
}

}  // namespace
}  // namespace keyway::server
