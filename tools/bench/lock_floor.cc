// bench_lock_floor LOCK read|write ACQUIRES: an uncontended acquire and release on the shm fabric
// over the two atomics that it cannot do without, on two threads with a lock each.
//
// The floor of a read is a pair of atomic adds, that of a write a pair of compare-and-swaps, on one
// word of the thread's own. Lock and floor are measured in turn, in batches; prints one JSON line
// with the slower thread's median ratio.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/distributed/satellite.h"
#include "keyway/locks/fabric/shm/shm_fabric.h"

namespace {

using namespace keyway;
using fabric::ShmEndpoint;
using fabric::ShmFabric;

constexpr std::uint32_t kThreads = 2;
constexpr std::uint64_t kBatch = 1000;

struct Layout {
  fabric::SegmentLayout segment;
  std::uint64_t line = segment.reserve(locks::kLockLineBytes, 128);
  std::uint64_t satellites = segment.reserve(kThreads * locks::kMaxSatelliteBytes, 128);
  std::uint64_t word = segment.reserve(fabric::kCacheLine, 128);
  locks::NodeRegion nodes = locks::NodeRegion::reserve(segment, 1, 2 * Topology::kMaxLevels);

  /// The lock of a thread, at its own rank.
  locks::LockSite site(std::uint32_t rank) const {
    return {.line = {rank, line},
            .group = {},
            .satellites = satellites + rank * locks::kMaxSatelliteBytes};
  }
};

template <class Step>
double ns_each(const Step& step) {
  const std::uint64_t begun = steady_ns();
  for (std::uint64_t i = 0; i < kBatch; ++i) step();
  return static_cast<double>(steady_ns() - begun) / static_cast<double>(kBatch);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

struct Found {
  double lock_ns = 0, floor_ns = 0, ratio = 0;
};

Found measure(ShmFabric& fabric, const Layout& layout, const locks::AnyLock& lock, locks::Mode mode,
              std::uint64_t acquires, std::uint32_t rank) {
  ShmEndpoint ep = *fabric.endpoint(rank);
  locks::LockAgent<ShmEndpoint> agent(ep, layout.nodes);
  const locks::LockSite site = layout.site(rank);
  const fabric::Address word{rank, layout.word};
  std::vector<double> locked, floor, ratio;
  for (std::uint64_t batch = 0; batch < acquires / kBatch; ++batch) {
    locked.push_back(ns_each([&] {
      auto grant = lock.acquire(agent, site, mode, Deadline::never());
      lock.release(agent, site, *grant);
    }));
    if (mode == locks::Mode::kRead) {
      floor.push_back(ns_each([&] {
        ep.fetch_add(fabric::rma, word, 1);
        ep.fetch_add(fabric::rma, word, ~0ULL);
      }));
    } else {
      floor.push_back(ns_each([&] {
        ep.compare_swap(fabric::rma, word, 0, 1);
        ep.compare_swap(fabric::rma, word, 1, 0);
      }));
    }
    ratio.push_back(locked.back() / floor.back());
  }
  return {median(locked), median(floor), median(ratio)};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc == 4 ? argv[2] : "";
  const std::uint64_t acquires = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 0;
  if (acquires < kBatch || (mode != "read" && mode != "write")) {
    fmt::print(stderr, "usage: bench_lock_floor LOCK read|write ACQUIRES, {} at least\n", kBatch);
    return 2;
  }
  const auto lock = locks::AnyLock::make(argv[1]);
  if (!lock.ok()) {
    fmt::print(stderr, "bench_lock_floor: {}\n", lock.status().message());
    return 2;
  }
  const Layout layout;
  ShmFabric fabric = *ShmFabric::create(
      {.ranks = kThreads, .segment_bytes = layout.segment.size(), .agents_per_rank = 1});
  std::vector<Found> found(kThreads);
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        found[t] = measure(fabric, layout, *lock,
                           mode == "read" ? locks::Mode::kRead : locks::Mode::kWrite, acquires, t);
      });
    }
  }
  const Found slower = *std::max_element(
      found.begin(), found.end(), [](const Found& a, const Found& b) { return a.ratio < b.ratio; });
  fmt::print(
      "{{\"lock\": \"{}\", \"mode\": \"{}\", \"lock_ns\": {:.2f}, \"floor_ns\": {:.2f}, "
      "\"ratio\": {:.3f}}}\n",
      argv[1], mode, slower.lock_ns, slower.floor_ns, slower.ratio);
}
