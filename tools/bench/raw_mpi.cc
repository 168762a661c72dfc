// bench_raw_mpi WAY BYTES OPERATIONS [MIB]: reads of another rank's memory by MPI alone, the floor
// of stores over MPI. Two ranks, both active, a window of MIB (64) each, random places.
//
//   get   MPI_Get and MPI_Win_flush
//   rget  MPI_Rget and MPI_Wait
//
// Prints one line of JSON: operations per second of both ranks.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/fabric/mpi/mpi_last_barrier.h"
#include "raw_read.h"

namespace {

using keyway::bench::RawWay;

/// Seconds that the slower rank took.
double seconds_of(MPI_Win window, RawWay way, MPI_Aint window_bytes, std::uint64_t operations,
                  std::vector<char>& out) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  constexpr MPI_Aint kAlign = 8;
  const auto places =
      static_cast<std::uint64_t>((window_bytes - static_cast<MPI_Aint>(out.size())) / kAlign);
  auto state = static_cast<std::uint64_t>(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (std::uint64_t i = 0; i < operations; ++i) {
    const auto place = static_cast<MPI_Aint>(keyway::splitmix64(state) % places);
    keyway::bench::raw_read(window, way, 1 - rank, place * kAlign, out);
  }
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

int run(int argc, char** argv) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string_view way = argc > 1 ? argv[1] : "";
  const std::uint64_t bytes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const std::uint64_t operations = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  const auto window_bytes =
      static_cast<MPI_Aint>((argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 64) << 20);
  if (ranks != 2 || (way != "get" && way != "rget") || bytes == 0 || operations == 0 ||
      window_bytes <= static_cast<MPI_Aint>(bytes)) {
    if (rank == 0) {
      std::fprintf(stderr, "bench_raw_mpi: on two ranks: get or rget, bytes, operations, MiB\n");
    }
    return 2;
  }
  void* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate(window_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  std::memset(base, 1, static_cast<std::size_t>(window_bytes));
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  std::vector<char> out(bytes);
  const RawWay raw = way == "get" ? RawWay::kGetAndFlush : RawWay::kRgetAndWait;
  seconds_of(window, raw, window_bytes, operations / 10, out);  // connects the ranks
  const double seconds = seconds_of(window, raw, window_bytes, operations, out);
  if (rank == 0) {
    std::printf("{\"operations_per_s\": %.0f}\n", 2 * static_cast<double>(operations) / seconds);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = run(argc, argv);
  keyway::fabric::finalise_mpi();
  return code;
}
