// The cost of operations on several keys of another node, as read_costs_test.cc counts it: about
// that of one key, since locks, lines, elements and writes of all keys are under way together.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/store/sim/far_sessions.h"

using namespace keyway;
using namespace keyway::test;

namespace {

using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

/// Eight keys of rank 0, each in a separate stripe, and operations on all of them.
struct Batch {
  static constexpr std::size_t kKeys = 8;

  explicit Batch(FarSessions& made) : far(made) {
    std::vector<std::uint64_t> stripes;
    for (const std::string& key : far.keys) {
      const std::uint64_t stripe = far.session->stripe_of(key).stripe;
      if (std::count(stripes.begin(), stripes.end(), stripe) != 0) continue;
      if (keys.size() == kKeys) break;
      stripes.push_back(stripe);
      keys.push_back(key);
    }
    REQUIRE(keys.size() == kKeys);
  }
  /// The operation begins once the unlocks of the last one are complete.
  Cost cost(const std::function<bool()>& operation) {
    far.session->endpoint().flush_all();
    return far.cost(operation);
  }
  Cost put(std::string_view value) {
    Pairs pairs;
    for (const std::string_view key : keys) pairs.emplace_back(key, value);
    return cost([&] { return far.session->put_all(pairs, {}).ok(); });
  }
  Cost erase() {
    return cost([&] { return *far.session->erase_all(keys) == kKeys; });
  }
  /// Checks that they have this value.
  Cost read(std::string_view value) {
    return cost([&] {
      std::size_t right = 0;
      const auto look = [&](std::size_t i, const store::ElementState* element) {
        right += i == right && element != nullptr && element->value == value;
      };
      return far.session->read_all(keys, look).ok() && right == kKeys;
    });
  }
  Cost transaction(std::string_view value) {
    return cost([&] {
      const auto body = [&](std::span<store::ElementDraft> drafts) {
        for (store::ElementDraft& draft : drafts) draft.write(std::string(value), kNoExpiry);
        return true;
      };
      return far.session->modify_all(keys, body, {}).ok();
    });
  }

  FarSessions& far;
  std::vector<std::string_view> keys;
};

void run_batch(const std::function<void(Batch&)>& body) {
  run_far(kAddresses,
          [&](FarSessions& far) {
            Batch batch(far);
            body(batch);
          },
          {.stripes = 64});
}

}  // namespace

TEST_CASE("batch costs: a read of several keys is two round trips, one more for each unknown") {
  run_batch([](Batch& batch) {
    CHECK(batch.read(kShort) == Cost{3, 25});  // lines, elements, headers; and the permit
    CHECK(batch.read(kShort) == Cost{2, 16});  // elements, headers
    REQUIRE(batch.far.other->erase(batch.keys[0]).ok());
    REQUIRE(batch.far.other->put(batch.keys[0], kShort, {.expires_at_ms = 1'000'000}).ok());
    // Elements, one of which has gone; then locks, lines, elements and the clock of the one.
    CHECK(batch.read(kShort).round_trips <= 6);
  });
}

TEST_CASE("batch costs: a write of several keys is five round trips") {
  run_batch([](Batch& batch) {
    batch.put(kShort);  // leases blocks
    // Locks, lines, elements, marks; holders and elements; unlocks.
    CHECK(batch.put(kShort) == Cost{5, 56});
    CHECK(batch.read(kShort) == Cost{3, 25});  // elements twice, headers; and the first permit
    CHECK(batch.read(kShort) == Cost{2, 16});
    batch.put(kLonger);
    CHECK(batch.put(kShort).round_trips == 6);  // epochs, for the stamps of elements that move
    CHECK(batch.erase().round_trips == 5);
    CHECK(batch.put(kShort).round_trips == 4);  // no elements, no marks; epochs
    CHECK(batch.read(kShort).round_trips == 2);
  });
}

TEST_CASE("batch costs: a transaction reads its drafts first") {
  run_batch([](Batch& batch) {
    batch.put(kShort);
    CHECK(batch.transaction(kShort).round_trips == 7);
  });
}
