// bench_raw_mpi WAY BYTES OPERATIONS [MIB [ACTIVE]]: reads of another rank's memory by MPI alone,
// the floor of stores over MPI. Two ranks, of which both (2) or the first (1) are active, a window
// of MIB (64) each, random places.
//
//   get     MPI_Get and MPI_Win_flush
//   rget    MPI_Rget and MPI_Wait
//   rget16  16 times MPI_Rget, and MPI_Waitall
//
// Prints one line of JSON: operations per second of all active ranks.

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/fabric/mpi/mpi_last_barrier.h"
#include "raw_access.h"

namespace {

using keyway::bench::RawWay;

constexpr std::size_t kAtOnce = 16;

/// As many reads as `out` has room for, at once.
template <class Place>
void read_at_once(MPI_Win window, int rank, Place&& place, std::size_t bytes,
                  std::vector<char>& out) {
  std::array<MPI_Request, kAtOnce> requests;
  const auto count = static_cast<int>(bytes);
  for (std::size_t i = 0; i < kAtOnce; ++i) {
    MPI_Rget(out.data() + i * bytes, count, MPI_BYTE, rank, place(), count, MPI_BYTE, window,
             &requests[i]);
  }
  MPI_Waitall(static_cast<int>(kAtOnce), requests.data(), MPI_STATUSES_IGNORE);
}

struct Run {
  MPI_Win window;
  std::string_view way;
  MPI_Aint window_bytes;
  std::size_t bytes;
  int active;
};

/// Seconds that the slower rank took.
double seconds_of(const Run& run, std::uint64_t operations, std::vector<char>& out) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  constexpr MPI_Aint kAlign = 8;
  const auto places =
      static_cast<std::uint64_t>((run.window_bytes - static_cast<MPI_Aint>(run.bytes)) / kAlign);
  auto state = static_cast<std::uint64_t>(rank);
  const auto place = [&] {
    return static_cast<MPI_Aint>(keyway::splitmix64(state) % places) * kAlign;
  };
  const RawWay one = run.way == "get" ? RawWay::kGetAndFlush : RawWay::kRgetAndWait;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (std::uint64_t i = 0; rank < run.active && i < operations;) {
    if (run.way == "rget16") {
      read_at_once(run.window, 1 - rank, place, run.bytes, out);
      i += kAtOnce;
    } else {
      keyway::bench::raw_access(run.window, one, 1 - rank, place(),
                                std::span(out).first(run.bytes));
      ++i;
    }
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
  const int active = argc > 5 ? static_cast<int>(std::strtol(argv[5], nullptr, 10)) : 2;
  if (ranks != 2 || (way != "get" && way != "rget" && way != "rget16") || bytes == 0 ||
      operations == 0 || window_bytes <= static_cast<MPI_Aint>(bytes) || active < 1 || active > 2) {
    if (rank == 0) {
      std::fprintf(stderr,
                   "bench_raw_mpi: on two ranks: get, rget or rget16, bytes, operations, MiB, 1 or "
                   "2 active ranks\n");
    }
    return 2;
  }
  void* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate(window_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  std::memset(base, 1, static_cast<std::size_t>(window_bytes));
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  std::vector<char> out(kAtOnce * bytes);
  const Run reads{window, way, window_bytes, bytes, active};
  seconds_of(reads, operations / 10, out);  // connects the ranks
  const double seconds = seconds_of(reads, operations, out);
  if (rank == 0) {
    std::printf("{\"operations_per_s\": %.0f}\n",
                active * static_cast<double>(operations) / seconds);
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
