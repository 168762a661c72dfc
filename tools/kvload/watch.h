// The main thread during a phase: status lines, the progress line, and the time limit.
#pragma once

#include <cstdint>

#include "job.h"
#include "phase.h"

namespace keyway::kvload {

/// Returns when all workers have finished. `operations` is how many they are to do, 0 if not
/// known. Prints to stderr if job.show.
void watch(PhaseState& state, const WorkerSlots& slots, const Job& job, const Phase& phase,
           std::uint64_t operations);

}  // namespace keyway::kvload
