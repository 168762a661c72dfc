// A fabric of which the operations leave together, and its words, for tests of that.
#pragma once

#include <cstdint>
#include <utility>

#include "keyway/locks/fabric/gather.h"
#include "tests/support/mpi_job.h"

namespace keyway::test {

inline constexpr std::uint64_t kWords = 300;
inline constexpr std::uint64_t kFirst = fabric::kReservedBytes;
inline constexpr std::uint64_t kBytesAt = kFirst + 8 * kWords;
inline constexpr std::uint64_t kBytes = 64 << 10;
inline constexpr std::uint64_t kSegment = kBytesAt + kBytes;

inline fabric::MpiFabric joining_fabric() {
  fabric::MpiFabric::Options options = mpi_options(kSegment);
  options.gathers = true;
  auto made = fabric::MpiFabric::create(options);
  REQUIRE(made.ok());
  return std::move(*made);
}

inline fabric::Address word(std::uint32_t rank, std::uint64_t i) { return {rank, kFirst + 8 * i}; }
inline std::uint32_t next_rank(const fabric::MpiEndpoint& ep) {
  return (ep.rank() + 1) % ep.ranks();
}

/// Messages that call() sends, and its round trips.
template <class Call>
fabric::Traffic traffic_of(fabric::MpiEndpoint& ep, Call&& call) {
  const fabric::Traffic before = ep.traffic();
  call();
  const fabric::Traffic after = ep.traffic();
  return {.messages = after.messages - before.messages,
          .round_trips = after.round_trips - before.round_trips};
}

}  // namespace keyway::test
