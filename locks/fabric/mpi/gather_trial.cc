#include "keyway/locks/fabric/mpi/gather_trial.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/mpi/mpi_library.h"
#include "keyway/locks/fabric/mpi/scattered_type.h"
#include "keyway/locks/fabric/segment.h"

namespace keyway::fabric {
namespace {

constexpr int kReads = 8;
constexpr int kBytes = 64;
constexpr int kStride = 128;
static_assert((kReads - 1) * kStride + kBytes <= kReservedBytes);
constexpr int kRounds = 8;

/// The shortest time of a few rounds. The first one, which may have to connect, is seldom it.
template <class Round>
std::uint64_t shortest_ns(Round&& round) {
  std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < kRounds; ++i) {
    const std::uint64_t begun = steady_ns();
    round();
    shortest = std::min(shortest, steady_ns() - begun);
  }
  return shortest;
}

/// A rank of another node, other ones for other ranks; `rank` itself if there is none.
int far_rank(int rank, const std::vector<std::uint32_t>& node_of_rank) {
  const auto ranks = static_cast<int>(node_of_rank.size());
  for (int i = 0; i < ranks; ++i) {
    const int other = (rank + ranks / 2 + i) % ranks;
    if (node_of_rank[other] != node_of_rank[rank]) return other;
  }
  return rank;
}

bool gather_is_quicker(int target, const MpiWindow& window) {
  std::array<std::byte, kReads * kBytes> bytes{};
  std::array<MPI_Request, kReads> requests{};
  const auto rank = static_cast<std::uint32_t>(target);
  std::array<Part, kReads> parts{};
  for (int i = 0; i < kReads; ++i) parts[i] = {std::uint64_t{kStride} * i, kBytes};
  ScatteredType scattered;
  if (scattered.set(window, rank, parts) != MPI_SUCCESS) return false;
  const std::uint64_t each_ns = shortest_ns([&] {
    for (int i = 0; i < kReads; ++i) {
      MPI_Rget(&bytes[i * kBytes], kBytes, MPI_BYTE, target,
               window.displacement(Address(rank, parts[i].offset)), kBytes, MPI_BYTE, window.handle,
               &requests[i]);
    }
    MPI_Waitall(kReads, requests.data(), MPI_STATUSES_IGNORE);
  });
  const std::uint64_t together_ns = shortest_ns([&] {
    MPI_Rget_accumulate(nullptr, 0, MPI_BYTE, bytes.data(), kReads * kBytes, MPI_BYTE, target, 0, 1,
                        scattered.handle(), MPI_NO_OP, window.handle, requests.data());
    MPI_Wait(requests.data(), MPI_STATUS_IGNORE);
  });
  scattered.free();
  // A fifth less, so that ranks between which it makes no difference do not differ by chance.
  return together_ns < each_ns - each_ns / 5;
}

}  // namespace

bool gathers_pay(MPI_Comm comm, const MpiMemory& memory) {
  if (kOpenMpi || memory.one_class()) return false;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const int target = far_rank(rank, memory.node_of_rank());
  const bool pays = target != rank && gather_is_quicker(target, memory.window());
  MPI_Barrier(comm);  // until then each rank is inside MPI, and answers
  return pays;
}

}  // namespace keyway::fabric
