// Work: represents an agent's own computation on a real fabric. The only busy loop of lockbench.
//
// *What.* The papers' "spins for a random time": the processor is kept busy by the clock, as a
// computation would keep it, and is not yielded. This is load, not waiting. In simulation the arena
// lets virtual time pass instead.
// *Thread safety.* Free functions without state.
#pragma once

#include <cstdint>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/wait.h"

namespace keyway::lockbench {

inline void keep_busy(std::uint64_t ns) {
  const std::uint64_t until = steady_ns() + ns;
  while (steady_ns() < until) fabric::cpu_pause();
}

}  // namespace keyway::lockbench
