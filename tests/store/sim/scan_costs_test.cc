// The cost of scans and reports of another rank, as read_costs_test.cc counts it: for each stripe
// its lock, the lines of its buckets, and the elements of all of them together.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/store/sim/far_sessions.h"

using namespace keyway;
using namespace keyway::test;

namespace {

constexpr std::uint32_t kStripes = FarShape{}.stripes;
constexpr std::uint64_t kAll = 1000;

/// Scans of rank 0, and what they have shown.
struct FarScan {
  explicit FarScan(FarSessions& made) : far(made) {}

  Cost keys(std::uint64_t limit) {
    return cost([&](std::uint64_t cursor) {
      return far.session->scan_keys_rank(0, cursor, limit,
                                         [&](std::string_view key) { shown.emplace_back(key); });
    });
  }
  Cost elements(std::uint64_t limit) {
    return cost([&](std::uint64_t cursor) {
      return far.session->scan_rank(0, cursor, limit,
                                    [&](std::string_view key, std::string_view value) {
                                      shown.emplace_back(key);
                                      values.emplace_back(value);
                                    });
    });
  }
  /// Whether each key was shown once.
  bool has_shown_all() {
    std::vector<std::string> all = far.keys;
    std::sort(all.begin(), all.end());
    std::sort(shown.begin(), shown.end());
    return shown == all;
  }

  FarSessions& far;
  std::vector<std::string> shown;
  std::vector<std::string> values;
  std::uint64_t steps = 0;

 private:
  Cost cost(const std::function<Result<std::uint64_t>(std::uint64_t)>& step) {
    shown.clear();
    values.clear();
    steps = 0;
    far.session->endpoint().flush_all();  // unlocks before it
    return far.cost([&] {
      Result<std::uint64_t> next = 0;
      do {
        next = step(*next);
        ++steps;
      } while (next.ok() && *next != 0);
      return next.ok();
    });
  }
};

}  // namespace

TEST_CASE("scan costs: a stripe of another rank is its lock, its lines, its elements") {
  run_far(0, [](FarSessions& far) {
    FarScan scan(far);
    const Cost keys = scan.keys(kAll);
    CHECK(keys.round_trips == 3 * kStripes);
    CHECK(keys.messages == far.keys.size() + 3 * kStripes);  // and its unlock
    CHECK(scan.has_shown_all());
    CHECK(scan.elements(kAll) == keys);
    CHECK(scan.has_shown_all());
    CHECK(std::count(scan.values.begin(), scan.values.end(), kShort) == std::ssize(far.keys));
  });
}

TEST_CASE("scan costs: a short step reads few elements that it will not show") {
  run_far(0, [](FarSessions& far) {
    FarScan scan(far);
    const Cost cost = scan.keys(2);
    CHECK(scan.has_shown_all());
    CHECK(scan.steps > 8);
    // Lock, lines, unlock, and elements of a bucket or two.
    CHECK(cost.messages <= scan.steps * (3 + 2 * store::kEntryWords));
  });
}

TEST_CASE("scan costs: a value that is not small is read by itself") {
  run_far(0, [](FarSessions& far) {
    const std::string large(2000, 'l');
    REQUIRE(far.other->put(far.keys[0], large, {}).ok());
    REQUIRE(far.other->put(far.keys[1], large, {}).ok());
    FarScan scan(far);
    CHECK(scan.keys(kAll).round_trips == 3 * kStripes);
    CHECK(scan.elements(kAll).round_trips == 3 * kStripes + 2);
    CHECK(std::count(scan.values.begin(), scan.values.end(), large) == 2);
  });
}

TEST_CASE("scan costs: a step shows what has changed since the last one") {
  run_far(0, [](FarSessions& far) {
    const auto first_value = [&] {
      std::string first;
      const auto sink = [&](std::string_view, std::string_view value) { first = value; };
      REQUIRE(far.session->scan_rank(0, 0, 1, sink).ok());
      return first;
    };
    CHECK(first_value() == kShort);
    const std::string other(kShort.size(), 'w');  // in place
    for (const std::string& key : far.keys) REQUIRE(far.other->put(key, other, {}).ok());
    CHECK(first_value() == other);
  });
}

/// Puts more keys of rank 0.
void add_keys(FarSessions& far, std::size_t count) {
  for (int i = 0; far.keys.size() < count; ++i) {
    const std::string key = fmt::format("one more {}", i);
    if (far.session->stripe_of(key).rank != 0) continue;
    REQUIRE(far.other->put(key, kShort, {}).ok());
    far.keys.push_back(key);
  }
}

TEST_CASE("scan costs: overflow lines of several buckets are read together") {
  run_far(0, [](FarSessions& far) {
    add_keys(far, 320);  // 20 for a bucket
    const auto report = *far.session->report(0);
    const std::uint64_t lines = report.overflow_buckets + far.store.geometry().buckets();
    REQUIRE(report.longest_chain_lines >= 4);
    FarScan scan(far);
    const Cost cost = scan.keys(kAll);
    CHECK(scan.has_shown_all());
    // The lock; lines of each depth; elements.
    const auto depth = static_cast<std::int64_t>(report.longest_chain_lines);
    CHECK(cost.round_trips <= kStripes * (1 + depth + 1));
    const std::uint64_t buckets_ahead = far.store.geometry().buckets() / kStripes;
    CHECK(cost.messages <= far.keys.size() + lines - kStripes * (buckets_ahead - 1) + 2 * kStripes);
  });
}

TEST_CASE("scan costs: a large stripe is walked in parts") {
  const FarShape shape{.stripes = 1, .buckets_per_stripe = 200};
  run_far(
      0,
      [](FarSessions& far) {
        add_keys(far, 1000);  // as many for a bucket as by default
        FarScan scan(far);
        const Cost cost = scan.elements(kAll * kAll);
        CHECK(scan.has_shown_all());
        CHECK(std::count(scan.values.begin(), scan.values.end(), kShort) == 1000);
        // Four times own lines and two or three depths of overflow; elements by a hundred or so.
        CHECK(cost.round_trips <= 1 + 4 * 4 + 4 * 4);
        CHECK(cost.messages <= 1100);
        const Cost keys = scan.keys(100);
        CHECK(scan.has_shown_all());
        CHECK(keys.messages <= 2 * 1100);
      },
      shape);
}

TEST_CASE("scan costs: a damaged entry ends a scan") {
  for (const store::EntryWord damaged : {store::EntryWord(3ULL << 62), store::EntryWord(~0ULL),
                                         store::EntryWord::heap(1, store::kClasses, 1 << 16),
                                         store::EntryWord::heap(1, 0, 1ULL << 32)}) {
    run_far(0, [&](FarSessions& far) {
      const fabric::Address line = far.store.geometry().bucket(0, 0);
      far.session->endpoint().store(fabric::rma, line + 8, damaged.word());
      const auto sink = [](std::string_view) {};
      CHECK(far.session->scan_keys_rank(0, 0, kAll, sink).code() == Code::kCorruption);
    });
  }
}

TEST_CASE("scan costs: a report looks at the elements of a stripe together") {
  run_far(0, [](FarSessions& far) {
    far.session->endpoint().flush_all();
    const Cost cost = far.cost([&] {
      const auto report = far.session->report(0);
      return report.ok() && report->elements == far.keys.size() &&
             report->value_bytes == far.keys.size() * kShort.size();
    });
    CHECK(cost.round_trips <= 3 * kStripes + 8);  // and the state of the heap
  });
}
