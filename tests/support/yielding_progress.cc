// Loaded into a job of MPICH with LD_PRELOAD: a rank that waits inside MPI yields the processor.
//
// MPICH 4.0 polls in its collectives without ever yielding. With more ranks than processors, a rank
// whose turn it is then waits for the end of another's time slice at each step: opening a store
// takes 300 ms instead of 10 ms with three ranks on two processors. Every step of MPICH's waiting
// goes through this function of UCX; after some that found nothing to do, it yields.
#include <dlfcn.h>
#include <sched.h>

namespace {
constexpr unsigned kIdleStepsBeforeYield = 1000;  // about 0.1 ms
}

extern "C" unsigned ucp_worker_progress(void* worker) {
  using Progress = unsigned(void*);
  static auto* const progress =
      reinterpret_cast<Progress*>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  thread_local unsigned idle_steps = 0;
  const unsigned handled = progress(worker);
  if (handled != 0) {
    idle_steps = 0;
  } else if (++idle_steps == kIdleStepsBeforeYield) {
    idle_steps = 0;
    sched_yield();
  }
  return handled;
}
