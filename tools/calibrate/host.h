// Host: the hardware threads of this host that the process may use, and threads pinned to them.
//
// *What.* Hardware threads are numbered like hwloc's logical ones: first the threads of a core,
// then the cores of a NUMA node, then the NUMA nodes of a socket. So the numbers are those of
// MulticoreShape.
// *Thread safety.* Immutable; run_pinned() starts and joins threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "keyway/locks/fabric/sim/multicore.h"

namespace keyway::calibrate {

struct Host {
  std::string cpu_model;
  fabric::sim::MulticoreShape shape;
  bool regular = true;  // else its parts differ in size, and `shape` has every thread as a core
  std::vector<std::uint32_t> usable;  // hardware threads of this process, sorted
  std::vector<int> os_index;          // for each hardware thread

  static Host discover();
  /// Two usable hardware threads that are just so near; the same one twice when there are none.
  std::pair<std::uint32_t, std::uint32_t> pair_at(fabric::sim::Nearness how) const;
  /// The two nearest usable hardware threads of different cores, or the nearest two, or one twice.
  std::pair<std::uint32_t, std::uint32_t> any_pair() const;
};

/// Runs body(0), body(1), ... at once on threads pinned to these hardware threads; returns when all
/// have returned.
void run_pinned(const Host& host, const std::vector<std::uint32_t>& where,
                const std::function<void(std::size_t)>& body);

}  // namespace keyway::calibrate
