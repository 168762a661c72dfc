#include "job_voice.h"

#include <signal.h>
#include <time.h>

#include <cstdlib>
#include <string_view>

namespace keyway::tools {

bool speaks_for_job() {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"}) {
    if (const char* rank = std::getenv(name)) return std::string_view(rank) == "0";
  }
  return true;
}

void let_rank_0_speak() {
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  sigprocmask(SIG_BLOCK, &end, nullptr);
  const timespec longest{.tv_sec = 1, .tv_nsec = 0};
  sigtimedwait(&end, nullptr, &longest);
}

}  // namespace keyway::tools
