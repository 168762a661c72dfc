// MpiWindow: the memory of all ranks of a job, as MPI addresses it.
//
// *Thread safety.* A value.
#pragma once

#include <mpi.h>

#include <vector>

#include "keyway/locks/fabric/address.h"

namespace keyway::fabric {

/// A window of the job: rank r's segment begins at displacement start[r].
struct MpiWindow {
  MPI_Win handle = MPI_WIN_NULL;
  std::vector<MPI_Aint> start;

  MPI_Aint displacement(Address a) const {
    return start[a.rank()] + static_cast<MPI_Aint>(a.offset());
  }
};

}  // namespace keyway::fabric
