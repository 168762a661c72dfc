// Arenas: the places where a run happens, one source file each.
//
// *Thread safety.* run_on_sim() may be called by several threads at once; the others by one.
#pragma once

#include <memory>
#include <optional>

#include "keyway/locks/base/status.h"
#include "options.h"
#include "result.h"

namespace keyway::lockbench {

/// Agents are threads of this process.
Result<RunResult> run_on_shm(const RunOptions& options);
/// Agents are fibers of a simulated machine.
Result<RunResult> run_on_sim(const RunOptions& options);
/// Agents are threads of the processes of a job. Collective; the result is rank 0's, nothing
/// elsewhere. kInvalidArgument on all ranks alike.
Result<std::optional<RunResult>> run_on_mpi(const RunOptions& options);
/// Keeps MPI alive between runs, as it cannot start a second time in a process. Collective.
Result<std::shared_ptr<void>> hold_mpi();

}  // namespace keyway::lockbench
