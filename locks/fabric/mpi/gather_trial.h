// Whether one message for several reads takes less time than a message for each of them.
//
// *Why.* MPI gathers scattered bytes in one message if the target's processor does the work. Over
// TCP it does that for every read anyway; a card that reads memory by itself is quicker without. No
// call of MPI tells which it is, so it is tried when a fabric is opened.
// *Thread safety.* A function that is collective, inside MpiInterface::call.
#pragma once

#include <mpi.h>

#include "keyway/locks/fabric/mpi/mpi_memory.h"

namespace keyway::fabric {

/// By reads of a few bytes of a rank of another node; false if there is none, or with Open MPI.
/// Each rank finds out for itself.
bool gathers_pay(MPI_Comm comm, const MpiMemory& memory);

}  // namespace keyway::fabric
