// Plan: one run with every number known, defaults included.
//
// *Thread safety.* Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/kvstore/atomic_table.h"
#include "keyway/locks/base/status.h"
#include "keyway/locks/distributed/any_lock.h"
#include "options.h"

namespace keyway::lockbench {

struct Plan {
  RunOptions options;
  std::uint32_t ranks = 1;
  std::uint32_t threads = 1;  // agents of each rank
  std::uint32_t locks = 1;
  std::uint64_t warm_up = 1;       // acquires of each agent that are discarded, and checked
  std::uint64_t measured = 0;      // acquires of each agent after them; 0: until options.seconds
  bool check_every = false;        // check the measured acquires as well
  bool atomics_only = false;       // bench dht without a lock (foMPI-A)
  store::AtomicTableShape volume;  // bench dht: no slots in other benches
  std::vector<std::string> warnings;

  std::uint32_t agents() const { return ranks * threads; }
  std::uint64_t agent_seed(std::uint32_t agent) const;
  bool has_volume() const { return volume.slots != 0; }
  /// Whether an agent of this rank does anything: in bench dht only ranks without the volume.
  bool takes_part(std::uint32_t rank) const { return !has_volume() || rank != options.home; }
};

/// Fills in the defaults and rejects contradictions. `ranks`: those of the fabric.
Result<Plan> make_plan(const RunOptions& options, std::uint32_t ranks);

/// Instead of a lock kind, for bench dht: no lock, everything by atomics.
inline constexpr std::string_view kAtomicsOnly = "fompi-a";
/// The lock that a run uses; for a run without one, a lock that no agent touches.
Result<locks::AnyLock> lock_of(const RunOptions& options);

/// Acquires of each agent unless --acquires says otherwise.
inline constexpr std::uint64_t kAcquiresOnRealFabrics = 100'000;  // as HPDC'16
inline constexpr std::uint64_t kAcquiresInSimulation = 125;

}  // namespace keyway::lockbench
