// Opening a store over a communicator of the program's own. Needs <mpi.h>; see client.h for the
// rest.
#pragma once

#include <mpi.h>

#include "keyway/client/client.h"

// MPI_Comm is another type in each MPI, so with another vendor's mpi.h the program would not link,
// or would run on two MPIs at once. keyway::client sets the macro.
#if defined(KEYWAY_BUILT_WITH_MPICH) && !defined(MPICH_VERSION)
#error "Keyway is built with MPICH, but this <mpi.h> is another MPI's: use mpicxx.mpich"
#elif defined(KEYWAY_BUILT_WITH_OPEN_MPI) && !defined(OPEN_MPI)
#error "Keyway is built with Open MPI, but this <mpi.h> is another MPI's: use mpicxx.openmpi"
#endif

namespace keyway {

/// As Store::open("mpi:..."), collective over `comm`; its processes become the ranks. MPI must be
/// initialised with MPI_THREAD_SERIALIZED at least; the communicator is duplicated.
Result<Store> open_over(MPI_Comm comm, std::string_view uri = "mpi:", StoreOptions options = {});

}  // namespace keyway
