// Accesses to another rank's memory by MPI alone, the floors of stores over MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

namespace keyway::bench {

enum class RawWay { kGetAndFlush, kRgetAndWait, kSwapAndPut };

/// Reads as many bytes as `bytes` has; or, as a put under an uncontended lock does, swaps the word
/// at `at`, and then writes them there: they begin with 0, which the next swap expects. Complete on
/// return. The caller may enter MPI, and has locked the window.
inline void raw_access(MPI_Win window, RawWay way, int rank, MPI_Aint at, std::span<char> bytes) {
  const int count = static_cast<int>(bytes.size());
  if (way == RawWay::kRgetAndWait) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Rget(bytes.data(), count, MPI_BYTE, rank, at, count, MPI_BYTE, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  if (way == RawWay::kSwapAndPut) {
    constexpr std::uint64_t kExpected = 0;
    constexpr std::uint64_t kDesired = 1;
    std::uint64_t found = 0;
    MPI_Compare_and_swap(&kDesired, &kExpected, &found, MPI_UINT64_T, rank, at, window);
    MPI_Win_flush(rank, window);
    MPI_Put(bytes.data(), count, MPI_BYTE, rank, at, count, MPI_BYTE, window);
  } else {
    MPI_Get(bytes.data(), count, MPI_BYTE, rank, at, count, MPI_BYTE, window);
  }
  MPI_Win_flush(rank, window);
}

}  // namespace keyway::bench
