// Checks the MPI library: the one of the build, the one at run time, and the launcher's. If two of
// them do not match, every rank would be alone in a separate job.
#pragma once

#include <mpi.h>

#include <string_view>

#include "keyway/locks/base/status.h"

namespace keyway::fabric {

#if defined(OPEN_MPI)
inline constexpr bool kOpenMpi = true;
inline constexpr std::string_view kMpiName = "Open MPI";
inline constexpr std::string_view kOtherMpiName = "MPICH";
#else
inline constexpr bool kOpenMpi = false;
inline constexpr std::string_view kMpiName = "MPICH";
inline constexpr std::string_view kOtherMpiName = "Open MPI";
#endif

/// The size of the job that the *other* library's launcher says it started, 0 when it started
/// none or when our own launcher is there as well.
int ranks_by_other_launcher();

/// To be asked before MPI_Init: whether another library's mpirun started this process.
Status check_launcher();
/// To be asked after MPI_Init: whether the library at run time is the one of the headers, and
/// whether the job has the size that its launcher meant.
Status check_running_library();

}  // namespace keyway::fabric
