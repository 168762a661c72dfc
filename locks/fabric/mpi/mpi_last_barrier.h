// How a job gets ready for MPI_Finalize.
//
// MPICH 4.0 on UCX's TCP closes its connections in MPI_Finalize: each rank asks every peer to
// confirm what it sent, and then waits for the others in the launcher without serving MPI. A peer
// that had served it *before* asking for itself is then never answered: the job hangs after its
// work is done (measured: one job of four in network namespaces, four ranks on two processors). It
// cannot happen if no rank enters MPI between the time when the last rank leaves our barrier and
// its own MPI_Finalize, because a connection is read in order: the request arrives before the
// answer.
#pragma once

namespace keyway::fabric {

/// Every rank of the job must call it last before MPI_Finalize, with no message in flight. Blocks
/// until all have called it. Does nothing with Open MPI.
void barrier_before_finalise();

}  // namespace keyway::fabric
