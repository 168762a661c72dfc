// Opening a store over a communicator of the program's own. Needs <mpi.h>; see client.h for the
// rest.
#pragma once

#include <mpi.h>

#include "keyway/client/client.h"

namespace keyway {

/// As Store::open("mpi:..."), collective over `comm`, whose processes become the ranks. MPI must
/// be initialised with MPI_THREAD_SERIALIZED at least; the communicator is duplicated.
Result<Store> open_over(MPI_Comm comm, std::string_view uri = "mpi:", StoreOptions options = {});

}  // namespace keyway
