// Several agents of one process: threads that share MPI under its mutex, fibers of one thread.
#include <thread>
#include <vector>

#include "keyway/locks/fabric/fiber.h"
#include "tests/support/mpi_job.h"

using namespace keyway;
using namespace keyway::fabric;
using test::make_mpi_fabric;

namespace {

constexpr std::uint64_t kCount = kReservedBytes;
constexpr std::uint64_t kTurn = kReservedBytes + 64;
constexpr std::uint64_t kSegment = kReservedBytes + 8192;
constexpr std::size_t kAgents = 3;

}  // namespace

TEST_CASE("threads of a rank use their endpoints at the same time") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  std::vector<std::thread> threads;
  for (std::size_t agent = 0; agent < kAgents; ++agent) {
    threads.emplace_back([&] {
      MpiEndpoint ep = *fabric.endpoint();
      for (int i = 0; i < 200; ++i) {
        const std::uint32_t target = (ep.rank() + static_cast<std::uint32_t>(i)) % ep.ranks();
        ep.fetch_add(rma, {target, kCount}, 1);
        ep.post_fetch_add(rma, {target, kCount}, 1);
      }
      ep.flush_all();
    });
  }
  for (std::thread& thread : threads) thread.join();
  fabric.barrier();
  MpiEndpoint ep = *fabric.endpoint();
  std::uint64_t sum = 0;
  for (std::uint32_t rank = 0; rank < ep.ranks(); ++rank) sum += ep.load(rma, {rank, kCount});
  CHECK(sum == 400u * kAgents * ep.ranks());
}

TEST_CASE("fibers of one thread hand a turn around the whole job") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  const std::uint32_t ranks = fabric.ranks();
  // One word per agent; agent k of rank r wakes agent k of rank r+1, and the last rank wakes agent
  // k+1 of rank 0. A fiber that kept the processor or MPI while it waits would stop the ring.
  run_fibers(kAgents, [&](std::size_t agent) {
    MpiEndpoint ep = *fabric.endpoint();
    const auto word = [](std::uint32_t rank, std::size_t of) {
      return Address(rank, kTurn + 64 * of);
    };
    for (std::uint64_t round = 1; round <= 20; ++round) {
      const bool first = ep.rank() == 0 && agent == 0;
      if (!first || round > 1) {
        ep.wait_until(
            word(ep.rank(), agent), [&](std::uint64_t v) { return v >= round; }, Deadline::never());
      }
      const bool last_rank = ep.rank() + 1 == ranks;
      const std::size_t next_agent = last_rank ? (agent + 1) % kAgents : agent;
      const std::uint64_t next_round = last_rank && next_agent == 0 ? round + 1 : round;
      ep.store(rma, word((ep.rank() + 1) % ranks, next_agent), next_round);
    }
  });
  fabric.barrier();
  MpiEndpoint ep = *fabric.endpoint();
  CHECK(ep.load(rma, {0, kTurn}) == 21);
}

TEST_CASE("agent slots run out with a sentence, and come back") {
  auto options = test::mpi_options(kSegment);
  options.agents_per_rank = 2;
  auto made = MpiFabric::create(options);
  REQUIRE(made.ok());
  MpiFabric& fabric = *made;
  {
    auto one = fabric.endpoint();
    auto two = fabric.endpoint();
    REQUIRE(one.ok());
    REQUIRE(two.ok());
    CHECK(one->agent() != two->agent());
    CHECK(fabric.endpoint().code() == Code::kUnavailable);
  }
  CHECK(fabric.endpoint().ok());
  CHECK(fabric.endpoint(fabric.rank() + 1).code() == Code::kInvalidArgument);
}
