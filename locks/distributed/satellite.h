// Satellites: the words of a lock on ranks other than its home, near the agents that use them.
//
// *What.* Every rank keeps satellite_bytes(levels) bytes for each lock, at the offset that the
// lock's site names, the same on all ranks. The kind determines which of them are used:
//   word 0                        the physical counter, on ranks that have one (rma_rw.h)
//   words 2(i - 2) + 1 and + 2    for each level i = 2..N at which this rank leads an element: the
//                                 tail of the element's queue, and `up`, the node of the element in
//                                 its parent's queue (queue_tree.h)
// A topology of up to 4 levels needs one cache line. The queue of level 1, the whole machine, has
// its tail in word 0 of the lock's home line.
// *Thread safety.* Plain arithmetic.
// *Source.* HPDC'16 sections 3.2.1 and 3.2.2: counters on every T_DC-th rank, tails on
// tail_rank[i,j].
#pragma once

#include <cstdint>

#include "keyway/locks/base/topology.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/fabric/segment.h"

namespace keyway::locks {

/// The bytes that each rank reserves for each lock, on a machine with this many levels.
constexpr std::uint64_t satellite_bytes(std::uint32_t levels) {
  const std::uint64_t words = 1 + 2 * (static_cast<std::uint64_t>(levels) - 1);
  return (words * 8 + fabric::kCacheLine - 1) / fabric::kCacheLine * fabric::kCacheLine;
}
/// Enough for any topology, for layouts that are made before the topology is known.
inline constexpr std::uint64_t kMaxSatelliteBytes = satellite_bytes(Topology::kMaxLevels);
static_assert(satellite_bytes(1) == 64 && satellite_bytes(4) == 64 && satellite_bytes(5) == 128);

inline fabric::Address counter_word(const LockSite& site, std::uint32_t rank) {
  KW_CHECK(site.satellites != 0);
  return {rank, site.satellites};
}
/// The tail of the queue of the element at `level` (2 at least) that `rank` leads.
inline fabric::Address tail_word(const LockSite& site, std::uint32_t rank, std::uint32_t level) {
  KW_CHECK(site.satellites != 0);
  KW_DCHECK(level >= 2);
  return {rank, site.satellites + 8 * (2 * (static_cast<std::uint64_t>(level) - 2) + 1)};
}
/// The node of that element in its parent's queue.
inline fabric::Address up_word(const LockSite& site, std::uint32_t rank, std::uint32_t level) {
  return tail_word(site, rank, level) + 8;
}

}  // namespace keyway::locks
