#include "keyway/locks/fabric/mpi/gather_trial.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/mpi/scattered_type.h"
#include "keyway/locks/fabric/segment.h"

namespace keyway::fabric {
namespace {

constexpr int kReads = 16;
constexpr int kBytes = 64;
constexpr int kStride = 128;
static_assert((kReads - 1) * kStride + kBytes <= kReservedBytes);
constexpr int kRounds = 8;

/// The shortest time of a few rounds. The first one, which may have to connect, is rarely it.
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

/// A rank of another host, other ones for other ranks; `rank` itself if there is none.
int far_rank(int rank, const std::vector<std::uint32_t>& host_of_rank) {
  const auto ranks = static_cast<int>(host_of_rank.size());
  for (int i = 0; i < ranks; ++i) {
    const int other = (rank + ranks / 2 + i) % ranks;
    if (host_of_rank[static_cast<std::size_t>(other)] !=
        host_of_rank[static_cast<std::size_t>(rank)]) {
      return other;
    }
  }
  return rank;
}

GatherTimes gather_times(int target, const MpiWindow& window) {
  std::array<std::byte, kReads * kBytes> bytes{};
  std::array<MPI_Request, kReads> requests{};
  requests.fill(MPI_REQUEST_NULL);
  const auto rank = static_cast<std::uint32_t>(target);
  std::array<Part, kReads> parts{};
  for (std::uint64_t i = 0; i < kReads; ++i) parts[i] = {kStride * i, kBytes};
  ScatteredType scattered;
  require_mpi(scattered.set(window, rank, parts, MPI_BYTE), "MPI_Type_create_hindexed");
  GatherTimes times;
  times.each_ns = shortest_ns([&] {
    for (std::size_t i = 0; i < kReads; ++i) {
      require_mpi(MPI_Rget(&bytes[i * kBytes], kBytes, MPI_BYTE, target,
                           window.displacement(Address(rank, parts[i].offset)), kBytes, MPI_BYTE,
                           window.handle, &requests[i]),
                  "MPI_Rget");
    }
    require_mpi(MPI_Waitall(kReads, requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  });
  times.together_ns = shortest_ns([&] {
    require_mpi(
        MPI_Rget_accumulate(nullptr, 0, MPI_BYTE, bytes.data(), kReads * kBytes, MPI_BYTE, target,
                            0, 1, scattered.handle(), MPI_NO_OP, window.handle, requests.data()),
        "MPI_Rget_accumulate");
    require_mpi(MPI_Wait(requests.data(), MPI_STATUS_IGNORE), "MPI_Wait");
  });
  require_mpi(scattered.free(), "MPI_Type_free");
  return times;
}

}  // namespace

bool gathers_pay(MPI_Comm comm, const MpiMemory& memory) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const int target = far_rank(rank, memory.host_of_rank());
  const bool pays = target != rank && gather_pays(gather_times(target, memory.window()));
  MPI_Barrier(comm);  // until then each rank is inside MPI, and answers
  return pays;
}

}  // namespace keyway::fabric
