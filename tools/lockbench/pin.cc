#include "pin.h"

#include <pthread.h>
#include <sched.h>

#include <vector>

namespace keyway::lockbench {
namespace {

/// As the process was started: pinning narrows the mask of a thread, and of those it starts.
const std::vector<int>& cores() {
  static const std::vector<int> found = [] {
    std::vector<int> list;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
      for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &set)) list.push_back(core);
      }
    }
    return list;
  }();
  return found;
}

}  // namespace

std::uint32_t usable_cores() {
  return cores().empty() ? 1 : static_cast<std::uint32_t>(cores().size());
}

void pin_to_core(std::uint32_t index) {
  if (cores().empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cores()[index % cores().size()], &set);
  // If the system refuses, the thread stays where it is: slower, not wrong.
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

}  // namespace keyway::lockbench
