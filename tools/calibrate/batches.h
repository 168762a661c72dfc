// Common parts of the measurements: a fabric of one rank, its words, and timed batches.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/segment.h"
#include "keyway/locks/fabric/shm/shm_fabric.h"
#include "keyway/tools/calibrate/measure.h"

namespace keyway::calibrate {

/// Two lines that do not share a cache line or its neighbour with anything else.
inline constexpr fabric::Address kLine{0, fabric::kReservedBytes};
inline constexpr fabric::Address kOtherLine{0, fabric::kReservedBytes + 1024};
inline constexpr std::uint64_t kSmallSegment = fabric::kReservedBytes + 4096;

/// Few bytes of one rank, or as many as the caller requests; ends the program if they cannot be
/// allocated.
inline fabric::ShmFabric make_fabric(std::uint64_t segment_bytes = kSmallSegment) {
  fabric::ShmFabric::Options options;
  options.segment_bytes = segment_bytes;
  return std::move(fabric::ShmFabric::create(options)).value();
}

/// Times batch() often; returns ns per operation, for batches of this many operations.
template <class Batch>
Spread time_batches(const Effort& effort, double operations, Batch&& batch) {
  std::vector<double> each;
  for (std::uint32_t i = 0; i <= effort.batches; ++i) {
    const std::uint64_t began = steady_ns();
    batch();
    const std::uint64_t ended = steady_ns();
    if (i > 0)
      each.push_back(static_cast<double>(ended - began) / operations);  // the first warms up
  }
  return Spread::of(std::move(each));
}

/// The same on one pinned thread, with a new endpoint.
template <class Batch>
Spread time_pinned(const Host& host, const Effort& effort, double operations, Batch&& batch) {
  auto fabric = make_fabric();
  Spread spread;
  run_pinned(host, {host.usable.front()}, [&](std::size_t) {
    fabric::ShmEndpoint ep = std::move(fabric.endpoint(0)).value();
    spread = time_batches(effort, operations, [&] { batch(ep); });
  });
  return spread;
}

}  // namespace keyway::calibrate
