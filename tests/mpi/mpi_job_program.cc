// A job for jobs_test.py to start wrongly, to kill and to watch: it opens a fabric, reports it, and
// keeps all ranks busy with one another until it receives the order to stop.
//
//   mpi_job_program MODE [--force-rma] [--segment BYTES]
//     run        rank 0 prints "ready RANK PID" for every rank, then all work until rank 0's
//                standard input ends; then all close and rank 0 prints "closed"
//     global     the same, but the fabric is closed after main(), as a global variable
//     exit       the same as run, but the last rank leaves with exit(3) at once
//     bad-rank   rank 0 issues an operation to a rank that does not exist
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/fabric/mpi/mpi_fabric.h"

using namespace keyway;
using namespace keyway::fabric;

namespace {

constexpr std::uint64_t kCount = kReservedBytes;
constexpr std::uint64_t kStop = kReservedBytes + 64;

std::optional<MpiFabric> global_fabric;

void announce(MpiFabric& fabric) {
  const std::string line = fmt::format("ready {} {}\n", fabric.rank(), getpid());
  const auto parts = fabric.gather(std::as_bytes(std::span(line)));
  for (const auto& part : parts) std::fwrite(part.data(), 1, part.size(), stdout);
  std::fflush(stdout);
}

bool input_ended() {
  pollfd in{STDIN_FILENO, POLLIN, 0};
  if (poll(&in, 1, 0) <= 0) return false;
  char c = 0;
  return read(STDIN_FILENO, &c, 1) <= 0;
}

void work(MpiFabric& fabric) {
  MpiEndpoint ep = *fabric.endpoint();
  for (std::uint32_t turn = ep.rank();; ++turn) {
    for (int i = 0; i < 50; ++i) ep.fetch_add(rma, {turn % ep.ranks(), kCount}, 1);
    if (ep.rank() == 0 && input_ended()) {
      for (std::uint32_t rank = 0; rank < ep.ranks(); ++rank) ep.store(rma, {rank, kStop}, 1);
    }
    if (ep.load(rma, {ep.rank(), kStop}) != 0) return;
  }
}

void issue_to_nobody(MpiFabric& fabric) {
  fabric.barrier();
  MpiWindow window;
  std::vector<std::uint64_t> memory(8);
  fabric.mpi().call([&] {
    MPI_Win_create(memory.data(), 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window.handle);
    MPI_Win_set_errhandler(window.handle, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, window.handle);
    return 0;
  });
  const std::uint32_t nobody = fabric.ranks() + 5;
  window.start.assign(nobody + 1, 0);
  std::uint64_t operand = 1;
  std::uint64_t result = 0;
  if (fabric.rank() == 0) {
    fabric.mpi().post_word(window, WordOp::kAdd, {nobody, 40}, &operand, &result);
  }
  fabric.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  MpiFabric::Options options;
  options.segment_bytes = kReservedBytes + 4096;
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--force-rma") options.force_rma = true;
    if (std::string_view(argv[i]) == "--segment") options.segment_bytes = std::stoull(argv[++i]);
  }
  auto made = MpiFabric::create(options);
  if (!made.ok()) {
    std::fprintf(stderr, "%s\n", std::string(made.status().message()).c_str());
    return 2;
  }
  announce(*made);
  if (mode == "bad-rank") issue_to_nobody(*made);
  if (mode == "exit" && made->rank() + 1 == made->ranks()) std::exit(3);
  work(*made);
  const bool first = made->rank() == 0;
  if (mode == "global") {
    global_fabric.emplace(std::move(*made));
  } else {
    const MpiFabric closing = std::move(*made);
  }
  if (first) std::puts("closed");
  return 0;
}
