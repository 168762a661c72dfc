// Messages of a job of several processes: rank 0 prints them, and gets the time to.
//
// *Thread safety.* For main(), before and after everything else.
#pragma once

namespace keyway::program {

/// Whether this process prints for its job: under a launcher, only rank 0. Asked before MPI is
/// initialised, because a bad command line must not need it.
bool is_primary_rank();
/// Whether a launcher started this process as one of a job.
bool under_launcher();
/// A launcher ends the whole job as soon as one process fails, so a process that fails in silence
/// lets rank 0 print first: until the launcher's signal comes, a second at most.
void let_rank_0_speak();

}  // namespace keyway::program
