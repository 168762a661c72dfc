#include "keyway/client/program/primary_rank.h"

#include <signal.h>
#include <time.h>

#include <cstdlib>
#include <string_view>

namespace keyway::program {

namespace {

/// As the launcher says it in the environment; null without one.
const char* rank_of_launcher() {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"}) {
    if (const char* rank = std::getenv(name)) return rank;
  }
  return nullptr;
}

}  // namespace

bool is_primary_rank() {
  const char* rank = rank_of_launcher();
  return rank == nullptr || std::string_view(rank) == "0";
}

bool under_launcher() { return rank_of_launcher() != nullptr; }

void let_rank_0_speak() {
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  sigprocmask(SIG_BLOCK, &end, nullptr);
  const timespec longest{.tv_sec = 1, .tv_nsec = 0};
  sigtimedwait(&end, nullptr, &longest);
}

}  // namespace keyway::program
