#include "pacer.h"

#include <thread>

#include "keyway/locks/base/clock.h"

namespace keyway::kvload {

bool wait_for_turn(PhaseState& phase, std::uint64_t until_ns) {
  constexpr std::uint64_t kWakeUpNs = 80'000;  // a timed wait ends up to this much late
  if (steady_ns() + kWakeUpNs < until_ns && !phase.wait_until(until_ns - kWakeUpNs)) return false;
  while (steady_ns() < until_ns) {
    if (phase.stopped()) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace keyway::kvload
