// Words are atomic through each class (E1), on every rank, for all combinations of ranks. Guards
// against the trap that only MPI_Fetch_and_op and MPI_Compare_and_swap are atomic with each other.
#include <algorithm>
#include <vector>

#include "tests/support/mpi_job.h"

using namespace keyway;
using namespace keyway::fabric;
using test::make_mpi_fabric;

namespace {

constexpr std::uint64_t kSum = kReservedBytes;
constexpr std::uint64_t kBits = kReservedBytes + 64;
constexpr std::uint64_t kGuess = kReservedBytes + 128;
constexpr std::uint64_t kPattern = kReservedBytes + 192;
constexpr std::uint64_t kToken = kReservedBytes + 256;
constexpr std::uint64_t kSegment = kReservedBytes + 4096;

}  // namespace

TEST_CASE("every rank adds to every rank and nothing is lost") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  constexpr std::uint64_t kRounds = 500;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    for (std::uint32_t rank = 0; rank < ep.ranks(); ++rank) ep.fetch_add(rma, {rank, kSum}, 3);
  }
  fabric.barrier();
  for (std::uint32_t rank = 0; rank < ep.ranks(); ++rank) {
    CHECK(ep.load(rma, {rank, kSum}) == 3 * kRounds * ep.ranks());
  }
}

TEST_CASE("compare-and-swap loops count every success") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  const Address word(0, kGuess);
  constexpr std::uint64_t kRounds = 200;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    std::uint64_t seen = 0;
    for (std::uint64_t found; (found = ep.compare_swap(rma, word, seen, seen + 1)) != seen;) {
      seen = found;
    }
  }
  fabric.barrier();
  CHECK(ep.load(rma, word) == kRounds * ep.ranks());
}

TEST_CASE("fetch_or sets each bit once and reports it to one rank only") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  const std::uint32_t target = ep.ranks() - 1;
  std::uint64_t won = 0;
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t mask = 1ULL << bit;
    if ((ep.fetch_or(rma, {target, kBits}, mask) & mask) == 0) ++won;
  }
  CHECK(fabric.allreduce_sum(won) == 64);
  CHECK(ep.load(rma, {target, kBits}) == ~0ULL);
}

TEST_CASE("swap passes tokens on without losing or doubling any") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  constexpr std::uint64_t kRounds = 300;
  std::uint64_t taken = 0;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    taken += ep.swap(rma, {0, kToken}, ep.rank() * kRounds + round);
  }
  fabric.barrier();
  const std::uint64_t left = ep.rank() == 0 ? ep.load(rma, {0, kToken}) : 0;
  const std::uint64_t tokens = kRounds * ep.ranks();  // 1 .. tokens were put in, each once
  CHECK(fabric.allreduce_sum(taken + left) == tokens * (tokens + 1) / 2);
}

TEST_CASE("stores do not tear and loads see one of them, through either class") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  const Address word(0, kPattern);
  const auto pattern = [](std::uint64_t n) { return (n & 0xff) * 0x0101010101010101ULL; };
  bool torn = false;
  for (std::uint64_t round = 0; round < 1000; ++round) {
    ep.store(rma, word, pattern(ep.rank() * 37 + round));
    const std::uint64_t seen =
        ep.is_local(0) && round % 2 == 0 ? ep.load(cpu, word) : ep.load(rma, word);
    torn = torn || seen != pattern(seen);
  }
  CHECK_FALSE(torn);
  fabric.barrier();
}

TEST_CASE("direct stores and loads through the fabric do not tear each other") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  const auto pattern = [](std::uint64_t n) { return (n & 0xff) * 0x0101010101010101ULL; };
  const std::uint32_t next = (ep.rank() + 1) % ep.ranks();
  bool torn = false;
  for (std::uint64_t round = 0; round < 1000; ++round) {
    ep.store(cpu, {ep.rank(), kPattern}, pattern(round));  // E2: plain stores may be mixed
    const std::uint64_t seen = ep.load(rma, {next, kPattern});
    torn = torn || seen != pattern(seen);
  }
  CHECK_FALSE(torn);
  fabric.barrier();
}

TEST_CASE("where the classes coincide they may be mixed in one count") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  CHECK(ep.one_class() == fabric.one_class());
  // The fabric is as requested.
  const auto& variant = test::mpi_variant();
  const bool one_node = ep.topology().level(ep.topology().level_named("node")).elements == 1;
  CHECK(ep.one_class() == (one_node && !variant.force_rma));
  const Address word(0, kSum);
  for (int round = 0; round < 500; ++round) {
    if (ep.one_class()) {
      ep.fetch_add(cpu, word, 1);
    } else {
      ep.fetch_add(rma, word, 1);  // E2: here a mixed count would lose additions
    }
    ep.fetch_add(rma, word, 1);
  }
  fabric.barrier();
  CHECK(ep.load(rma, word) == 1000u * ep.ranks());
}
