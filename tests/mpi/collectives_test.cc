// The collectives of MpiFabric, and that they keep neither other threads nor other ranks' one-sided
// operations waiting.
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/mpi_job.h"

using namespace keyway;
using namespace keyway::fabric;
using test::make_mpi_fabric;

namespace {

constexpr std::uint64_t kCount = kReservedBytes;
constexpr std::uint64_t kSegment = kReservedBytes + 4096;

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("gather brings bytes of different lengths to rank 0") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  const auto text = [](std::uint32_t rank) {
    return bytes_of(std::string(rank * 1000, static_cast<char>('a' + rank)));  // rank 0: nothing
  };
  const auto parts = fabric.gather(text(fabric.rank()));
  if (fabric.rank() != 0) {
    CHECK(parts.empty());
    return;
  }
  REQUIRE(parts.size() == fabric.ranks());
  for (std::uint32_t rank = 0; rank < fabric.ranks(); ++rank) CHECK(parts[rank] == text(rank));
}

TEST_CASE("broadcast replaces what the others hold") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  for (std::uint32_t root = 0; root < fabric.ranks(); ++root) {
    auto bytes = bytes_of(fabric.rank() == root ? "from " + std::to_string(root) : "stale");
    fabric.broadcast(bytes, root);
    CHECK(bytes == bytes_of("from " + std::to_string(root)));
  }
}

TEST_CASE("reductions") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  const std::uint64_t n = fabric.ranks();
  CHECK(fabric.allreduce_sum(fabric.rank() + 1) == n * (n + 1) / 2);
  CHECK(fabric.allreduce_min(fabric.rank() + 5) == 5);
  CHECK(fabric.allreduce_max(fabric.rank()) == n - 1);
}

TEST_CASE("a failure on one rank is the same failure on all") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  CHECK(fabric.agree({}).ok());
  const std::uint32_t last = fabric.ranks() - 1;
  const Status mine = fabric.rank() == last ? Status(Code::kExists, "no room") : Status();
  const Status status = fabric.agree(mine);
  CHECK(status == Code::kExists);
  CHECK(status.message() == (last == 0 ? "no room" : "rank " + std::to_string(last) + ": no room"));
}

TEST_CASE("a thread that waits in a barrier keeps no other thread of its rank out of MPI") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  const std::uint32_t last = fabric.ranks() - 1;
  // The last rank enters the barrier only after it has seen additions that the other ranks make
  // from a second thread while their first one is in the barrier already.
  std::thread adder;
  if (fabric.rank() != last) {
    adder = std::thread([&] {
      MpiEndpoint ep = *fabric.endpoint();
      for (int i = 0; i < 100; ++i) ep.fetch_add(rma, {last, kCount}, 1);
    });
  } else {
    MpiEndpoint ep = *fabric.endpoint();
    ep.wait_until(
        {last, kCount}, [&](std::uint64_t v) { return v == 100ull * last; }, Deadline::never());
  }
  fabric.barrier();
  if (adder.joinable()) adder.join();
}

TEST_CASE("a notice reaches every rank, whichever leaves it") {
  for (std::uint32_t from = 0; from < 4; ++from) {
    MpiFabric fabric = make_mpi_fabric(kSegment);
    CHECK_FALSE(fabric.notified());
    fabric.barrier();
    if (fabric.rank() == from % fabric.ranks()) fabric.notify_all();
    MpiEndpoint ep = *fabric.endpoint();
    CHECK(ep.retry_until([&] { return fabric.notified(); }, Backoff::none(),
                         Deadline::within(std::chrono::seconds(60))));
  }
}
