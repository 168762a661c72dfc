// The main thread during a phase: status lines, the progress line, and what ends a phase early: the
// time limit, a signal, a store that fails everything.
#pragma once

#include <cstdint>

#include "job.h"
#include "phase.h"

namespace keyway::kvload {

/// Requests of the watch to the job's other processes.
class Peers {
 public:
  virtual ~Peers() = default;
  /// Asks all of them to end, this one too.
  virtual void ask_all_to_end() = 0;
  /// Whether one of them has asked.
  virtual bool asked_to_end() const = 0;
};

/// Returns when all workers have finished, and says why they did. `operations` is how many they are
/// to do, 0 if not known. Prints to stderr if job.show.
PhaseEnd watch(PhaseState& state, const WorkerSlots& slots, const Job& job, const Phase& phase,
               std::uint64_t operations, Peers& peers);

}  // namespace keyway::kvload
