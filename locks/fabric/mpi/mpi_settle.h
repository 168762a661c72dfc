// How a job gets ready for MPI_Finalize.
//
// MPICH 4.0 on UCX's TCP closes its connections in MPI_Finalize: each rank asks every peer to
// confirm what it sent, and then waits for the others in the launcher without serving MPI. A peer
// that had served it *before* asking for itself is then never answered: the job hangs after its
// work is done (measured: one job of four in network namespaces, four ranks on two processors).
// It cannot happen when nobody enters MPI between the last rank's leaving of our barrier and its
// own MPI_Finalize, because a connection is read in order: the question arrives before the answer.
#pragma once

namespace keyway::fabric {

/// To be called last before MPI_Finalize, by every rank of the job; no message may be under way.
/// Blocks until all have called it. Does nothing with Open MPI.
void settle_before_finalise();

}  // namespace keyway::fabric
