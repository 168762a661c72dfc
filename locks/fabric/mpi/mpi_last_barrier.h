// How a job ends MPI.
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

/// MPI_Finalize, for every program of this project: each rank of the job must call it, with no
/// message in flight. Blocks until all have called it. With Open MPI it is MPI_Finalize alone.
void finalise_mpi();

}  // namespace keyway::fabric
