// Sessions of two ranks on a simulated network whose messages alone take time, and the cost of
// their operations on keys of a third one.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "keyway/locks/fabric/sim/sim_endpoint.h"
#include "tests/store/sim/sim_store.h"
#include "tests/support/slow_network.h"

namespace keyway::test {

inline const std::string kShort(100, 'v');
inline const std::string kLonger(200, 'v');

/// Depth, and messages.
struct Cost {
  std::int64_t round_trips = 0;
  std::uint64_t messages = 0;

  bool operator==(const Cost&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Cost& cost) {
  return out << cost.round_trips << " round trips, " << cost.messages << " messages";
}

using PlainStore = SimStore<fabric::SimEndpoint>;

/// Two sessions of ranks 1 and 2, and keys of rank 0.
struct FarSessions {
  explicit FarSessions(PlainStore& made) : store(made) {
    for (int i = 0; keys.size() < 64; ++i) {
      const std::string key = fmt::format("key {}", i);
      if (session->stripe_of(key).rank == 0) keys.push_back(key);
    }
    const std::uint64_t began = now();
    session->endpoint().load(fabric::rma, store.geometry().header(0));
    round_trip_ns = now() - began;
  }
  std::uint64_t now() const { return session->endpoint().now_ns(); }
  std::uint64_t messages() const {
    std::uint64_t all = 0;
    for (const auto& level : store.fabric().stats().rma) all += level.counts.operations();
    return all;
  }
  Cost cost(const std::function<bool()>& operation) {
    const std::uint64_t began = now();
    const std::uint64_t before = messages();
    const store::RemoteWork counted = session->remote_work();
    REQUIRE(operation());
    const Cost cost{static_cast<std::int64_t>((now() - began + round_trip_ns / 2) / round_trip_ns),
                    messages() - before};
    // The session's counters say the same.
    CHECK(session->remote_work().messages - counted.messages == cost.messages);
    CHECK(static_cast<std::int64_t>(session->remote_work().round_trips - counted.round_trips) ==
          cost.round_trips);
    return cost;
  }
  Cost get() {
    return cost([this] { return session->get(keys[0], value).ok() && !value.empty(); });
  }
  Cost put(const std::string& what) {
    return cost([&] { return session->put(keys[0], what, {}).ok(); });
  }

  PlainStore& store;
  std::unique_ptr<PlainStore::Session> session = store.session(1);
  std::unique_ptr<PlainStore::Session> other = store.session(2);
  std::vector<std::string> keys;
  std::string value;
  std::uint64_t round_trip_ns = 0;
};

/// Each rank's volume.
struct FarShape {
  std::uint32_t stripes = 4;
  std::uint64_t buckets_per_stripe = 4;
  std::uint64_t memory_bytes = 4 * store::kMinMemoryBytes;
  double latency_ns = 1'000'000;
};

/// Runs body with `addresses` bytes for the known places of each rank's keys.
inline void run_far(std::uint64_t address_bytes, const std::function<void(FarSessions&)>& body,
                    const FarShape& shape = {}) {
  PlainStore store({.ranks = 3,
                    .machine = slow_network(shape.latency_ns),
                    .memory_bytes = shape.memory_bytes,
                    .address_bytes = address_bytes,
                    .buckets = shape.buckets_per_stripe * shape.stripes,
                    .stripes = shape.stripes});
  const SimTeam team(store.fabric());
  team.run([&](std::uint32_t me) {
    if (me != 1) return;
    FarSessions far(store);
    for (const std::string& key : far.keys) REQUIRE(far.other->put(key, kShort, {}).ok());
    body(far);
  });
}

inline constexpr std::uint64_t kAddresses = 1 << 16;

}  // namespace keyway::test
