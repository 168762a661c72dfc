// A job with ranks that disagree, or with impossible options, gets one sentence, the same on every
// rank, and does not hang.
#include <string>

#include "tests/support/mpi_job.h"

using namespace keyway;
using namespace keyway::fabric;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint64_t kSegment = kReservedBytes + 4096;

std::uint32_t job_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return static_cast<std::uint32_t>(rank);
}

// The same message on every rank: returned, after all have compared theirs with rank 0's.
std::string same_message(const MpiFabric::Options& options) {
  auto made = MpiFabric::create(options);
  REQUIRE_FALSE(made.ok());
  const std::string mine(made.status().message());
  // No fabric is open here, so no other thread is inside MPI.
  auto bytes = static_cast<int>(mine.size());
  MPI_Bcast(&bytes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::string first(static_cast<std::size_t>(bytes), '\0');
  if (job_rank() == 0) first = mine;
  MPI_Bcast(first.data(), bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  CHECK(mine == first);
  return mine;
}

std::uint32_t job_ranks() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return static_cast<std::uint32_t>(ranks);
}

}  // namespace

TEST_CASE("ranks that disagree are told on what") {
  if (job_ranks() == 1) return;
  const bool odd = job_rank() % 2 == 1;
  auto options = test::mpi_options(kSegment);
  SECTION("size") {
    options.segment_bytes = odd ? 16384 : 12288;
    CHECK_THAT(same_message(options), Contains("disagree on segment_bytes (12288 to 16384)"));
  }
  SECTION("agents") {
    options.agents_per_rank = odd ? 4 : 5;
    CHECK_THAT(same_message(options), Contains("disagree on agents_per_rank (4 to 5)"));
  }
  SECTION("topology") {
    options.topology = odd ? "nodes=1" : "";
    CHECK_THAT(same_message(options), Contains("disagree on the topology"));
  }
  SECTION("path") {
    options.force_rma = odd;
    CHECK_THAT(same_message(options), Contains("disagree on force_rma"));
  }
  SECTION("nodes") {
    options.ranks_per_node = odd ? 1 : 2;
    CHECK_THAT(same_message(options), Contains("disagree on ranks_per_node (1 to 2)"));
  }
}

TEST_CASE("options out of bounds are refused with a sentence") {
  auto options = test::mpi_options(kSegment);
  SECTION("no agents") {
    options.agents_per_rank = 0;
    CHECK_THAT(same_message(options), Contains("ask for 1 to 65535"));
  }
  SECTION("no memory asked for") {
    options.segment_bytes = 0;
    CHECK_THAT(same_message(options), Contains("segments of 0 bytes"));
  }
  SECTION("more memory than there is") {
    options.segment_bytes = 1ULL << 46;
    CHECK_THAT(same_message(options), Contains("ask for less memory"));
  }
  SECTION("a topology that does not divide") {
    options.topology = "nodes=1000";
    CHECK_THAT(same_message(options), Contains("do not divide"));
  }
}

TEST_CASE("the topology is the nodes that were found, or what the configuration says") {
  MpiFabric fabric = test::make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  for (std::uint32_t rank = 0; rank < ep.ranks(); ++rank) {
    CHECK(ep.is_local(rank) == ep.topology().same_node(ep.rank(), rank));
  }
  CHECK(ep.is_local(ep.rank()));
  if (const std::uint32_t each = test::mpi_variant().ranks_per_node; each != 0) {
    const auto& nodes = ep.topology().level(ep.topology().level_named("node"));
    CHECK(nodes.elements == (ep.ranks() + each - 1) / each);
  }
  auto options = test::mpi_options(kSegment);
  options.topology = "racks=1,nodes=1";
  auto with_racks = MpiFabric::create(options);
  REQUIRE(with_racks.ok());
  CHECK(with_racks->topology().level_named("rack") != 0);
}

TEST_CASE("segments start out zero, on a page, also after another fabric has used the memory") {
  for (int again = 0; again < 3; ++again) {
    MpiFabric fabric = test::make_mpi_fabric(3u << 20);
    MpiEndpoint ep = *fabric.endpoint();
    const Address first(ep.rank(), 0);
    CHECK(reinterpret_cast<std::uintptr_t>(ep.view(first)) % 4096 == 0);
    std::uint64_t set = 0;
    const std::uint64_t end = fabric.segment_bytes();
    for (std::uint64_t at = 0; at < end; at += 8) set |= ep.load(cpu, first + at);
    CHECK(set == 0);
    for (std::uint64_t at = 0; at < end; at += 8) ep.store(cpu, first + at, ~0ULL);
    fabric.barrier();
  }
}

TEST_CASE("two fabrics live side by side") {
  MpiFabric one = test::make_mpi_fabric(kSegment);
  MpiFabric two = test::make_mpi_fabric(kSegment);
  MpiEndpoint ep_one = *one.endpoint();
  MpiEndpoint ep_two = *two.endpoint();
  ep_one.fetch_add(rma, {0, kReservedBytes}, 1);
  ep_two.fetch_add(rma, {0, kReservedBytes}, 2);
  one.barrier();
  CHECK(ep_one.load(rma, {0, kReservedBytes}) == one.ranks());
  CHECK(ep_two.load(rma, {0, kReservedBytes}) == 2 * two.ranks());
  one.barrier();
}
