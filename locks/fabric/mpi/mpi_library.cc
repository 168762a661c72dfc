#include "keyway/locks/fabric/mpi/mpi_library.h"

#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <string>

namespace keyway::fabric {
namespace {

int number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atoi(text);
}

// Environment variables that the launchers set for each rank. Slurm's srun can serve either
// library.
bool started_by_own_launcher() {
  if constexpr (kOpenMpi) {
    return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMIX_RANK") != nullptr;
  }
  return std::getenv("PMI_FD") != nullptr || std::getenv("PMI_PORT") != nullptr ||
         (std::getenv("PMIX_RANK") != nullptr && std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr);
}

Status wrong_launcher(int ranks) {
  return {Code::kUnavailable,
          fmt::format("this program is built with {} but was started on {} ranks by another MPI's "
                      "mpirun; start it with {}",
                      kMpiName, ranks, kOpenMpi ? "mpirun.openmpi" : "mpirun.mpich")};
}

}  // namespace

int ranks_by_other_launcher() {
  if (started_by_own_launcher()) return 0;
  return number_in_environment(kOpenMpi ? "PMI_SIZE" : "OMPI_COMM_WORLD_SIZE");
}

Status check_launcher() {
  const int ranks = ranks_by_other_launcher();
  return ranks > 1 ? wrong_launcher(ranks) : Status();
}

Status check_running_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  const std::string_view running(version.data(), static_cast<std::size_t>(length));
  const bool open_mpi_runs = running.find("Open MPI") != std::string_view::npos;
  if (open_mpi_runs != kOpenMpi) {
    return {Code::kUnavailable,
            fmt::format("this program is built with {} but runs on '{}'; set the library path to "
                        "{}'s libraries",
                        kMpiName, running.substr(0, running.find('\n')), kMpiName)};
  }
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int launched = number_in_environment(kOpenMpi ? "PMI_SIZE" : "OMPI_COMM_WORLD_SIZE");
  if (size == 1 && launched > 1 && ranks_by_other_launcher() > 1) return wrong_launcher(launched);
  return {};
}

}  // namespace keyway::fabric
