// When a thread's operations should start under a target rate.
//
// The schedule is fixed in advance: an operation that is late because an earlier one was slow
// starts at once, and its intended latency counts from its own time in the schedule. So a stall
// is charged to all operations that it delayed (no coordinated omission).
#pragma once

#include <cstdint>

#include "phase.h"

namespace keyway::kvload {

class Pacer {
 public:
  /// No target: every operation starts when the one before it ends.
  Pacer() = default;
  /// Thread `index` of `threads`, which together keep to `target_per_s`; their schedules
  /// interleave.
  Pacer(double target_per_s, std::uint64_t threads, std::uint64_t index)
      : tick_ns_(1e9 * static_cast<double>(threads) / target_per_s),
        offset_ns_(tick_ns_ * static_cast<double>(index) / static_cast<double>(threads)) {}

  bool on() const { return tick_ns_ > 0; }
  /// When operation `number`, from 0, should start, in ns after the start of the phase.
  std::uint64_t due_ns(std::uint64_t number) const {
    return static_cast<std::uint64_t>(offset_ns_ + tick_ns_ * static_cast<double>(number));
  }

 private:
  double tick_ns_ = 0;
  double offset_ns_ = 0;
};

/// Waits until `steady_ns`, to within a microsecond or so; false when the phase is stopped first.
bool wait_for_turn(PhaseState& phase, std::uint64_t steady_ns);

}  // namespace keyway::kvload
