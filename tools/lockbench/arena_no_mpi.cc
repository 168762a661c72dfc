#include "arena.h"

namespace keyway::lockbench {

Result<std::shared_ptr<void>> hold_mpi() { return std::shared_ptr<void>(); }

Result<std::optional<RunResult>> run_on_mpi(const RunOptions&) {
  return Status(Code::kInvalidArgument,
                "this lockbench was built without MPI: use --fabric shm or sim, or build with "
                "-DKEYWAY_MPI=mpich");
}

}  // namespace keyway::lockbench
