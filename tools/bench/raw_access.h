// Accesses to another rank's memory by MPI alone, the floors of stores over MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

namespace keyway::bench {

enum class RawWay { kGetAndFlush, kRgetAndWait };

/// Reads as many bytes as `out` has. The caller may enter MPI, and has locked the window.
inline void raw_read(MPI_Win window, RawWay way, int rank, MPI_Aint at, std::span<char> out) {
  const int bytes = static_cast<int>(out.size());
  if (way == RawWay::kGetAndFlush) {
    MPI_Get(out.data(), bytes, MPI_BYTE, rank, at, bytes, MPI_BYTE, window);
    MPI_Win_flush(rank, window);
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Rget(out.data(), bytes, MPI_BYTE, rank, at, bytes, MPI_BYTE, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// Swaps the word at `at`, as an uncontended lock does, then writes `bytes` there; both complete.
inline void raw_swap_and_put(MPI_Win window, int rank, MPI_Aint at, std::span<const char> bytes) {
  const std::uint64_t expected = 0;
  const std::uint64_t desired = 1;
  std::uint64_t found = 0;
  MPI_Compare_and_swap(&desired, &expected, &found, MPI_UINT64_T, rank, at, window);
  MPI_Win_flush(rank, window);
  const int count = static_cast<int>(bytes.size());
  MPI_Put(bytes.data(), count, MPI_BYTE, rank, at, count, MPI_BYTE, window);
  MPI_Win_flush(rank, window);
}

}  // namespace keyway::bench
