// A read of another rank's memory by MPI alone, the floor of stores over MPI.
#pragma once

#include <mpi.h>

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

}  // namespace keyway::bench
