#include "keyway/locks/fabric/mpi/mpi_last_barrier.h"

#include <mpi.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "keyway/locks/fabric/mpi/mpi_library.h"

namespace keyway::fabric {
namespace {

// One message from every rank to every rank: otherwise an unused connection would be made during
// MPI_Finalize.
void use_every_connection() {
  constexpr int kTag = 7400;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<char> in(static_cast<std::size_t>(ranks));
  const char out = 0;
  std::vector<MPI_Request> requests;
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == rank) continue;
    MPI_Irecv(&in[static_cast<std::size_t>(peer)], 1, MPI_CHAR, peer, kTag, MPI_COMM_WORLD,
              &requests.emplace_back());
    MPI_Isend(&out, 1, MPI_CHAR, peer, kTag, MPI_COMM_WORLD, &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

// A barrier among all ranks through MPICH's launcher, by its PMI-1 wire protocol on the descriptor
// that the launcher gave us: no rank enters MPI meanwhile. Does nothing with a launcher without
// that descriptor.
void wait_in_launcher() {
  const char* number = std::getenv("PMI_FD");
  if (number == nullptr) return;
  const int fd = std::atoi(number);
  constexpr std::string_view kEnter = "cmd=barrier_in\n";
  if (write(fd, kEnter.data(), kEnter.size()) != static_cast<ssize_t>(kEnter.size())) return;
  // The answer is one line, "cmd=barrier_out". Without a deadline, as MPI_Finalize's own wait in
  // the same place: the launcher ends the job when a rank dies.
  for (char c = 0; c != '\n';) {
    const ssize_t got = read(fd, &c, 1);
    if (got == 0 || (got < 0 && errno != EINTR)) return;
  }
}

}  // namespace

void finalise_mpi() {
  if constexpr (!kOpenMpi) {
    use_every_connection();
    wait_in_launcher();
  }
  MPI_Finalize();
}

}  // namespace keyway::fabric
