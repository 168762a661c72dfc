// Posted operations: many per flush, results in their slots, buffers that stay put. Guards "many
// operations per flush" and "use full MPI_Win_flush".
#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/support/mpi_job.h"

using namespace keyway;
using namespace keyway::fabric;
using test::make_mpi_fabric;

namespace {

constexpr std::uint64_t kWord = kReservedBytes;
constexpr std::uint64_t kSlots = kReservedBytes + 64;
constexpr std::uint64_t kSegment = kReservedBytes + (1u << 20);

}  // namespace

TEST_CASE("64 additions under one flush each return their own turn") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  const std::uint32_t target = (ep.rank() + 1) % ep.ranks();  // each rank has one adder
  std::vector<Pending> pending;
  for (int i = 0; i < 64; ++i) pending.push_back(ep.post_fetch_add(rma, {target, kWord}, 1));
  const Flushed receipt = ep.flush(target);
  std::vector<std::uint64_t> turns;
  for (const Pending& each : pending) turns.push_back(each.value(receipt));
  std::sort(turns.begin(), turns.end());
  std::vector<std::uint64_t> expected(64);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(turns == expected);
}

TEST_CASE("operations to several ranks complete rank by rank") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  std::vector<Pending> old;
  for (std::uint32_t rank = 0; rank < ep.ranks(); ++rank) {
    ep.post_store(rma, {rank, kSlots + 8 * ep.rank()}, 100 + ep.rank());
    old.push_back(ep.post_swap(rma, {rank, kSlots + 1024 + 8 * ep.rank()}, 7));
  }
  for (std::uint32_t rank = 0; rank < ep.ranks(); ++rank) {
    CHECK(old[rank].value(ep.flush(rank)) == 0);
  }
  fabric.barrier();
  for (std::uint32_t writer = 0; writer < ep.ranks(); ++writer) {
    CHECK(ep.load(cpu, {ep.rank(), kSlots + 8 * writer}) == 100 + writer);
    CHECK(ep.load(cpu, {ep.rank(), kSlots + 1024 + 8 * writer}) == 7);
  }
}

TEST_CASE("more operations than slots, without a flush in between, are all carried out") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  constexpr std::uint64_t kPosts = 3 * kResultSlots + 17;
  for (std::uint64_t i = 0; i < kPosts; ++i) {
    ep.post_fetch_add(rma, {static_cast<std::uint32_t>(i % ep.ranks()), kWord}, 1);
  }
  ep.flush_all();
  fabric.barrier();
  std::uint64_t sum = 0;
  for (std::uint32_t rank = 0; rank < ep.ranks(); ++rank) sum += ep.load(rma, {rank, kWord});
  CHECK(sum == kPosts * ep.ranks());
}

TEST_CASE("as many results as there are slots can be read after the flush") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  const std::uint32_t target = (ep.rank() + 1) % ep.ranks();
  std::vector<Pending> pending;
  for (std::uint64_t i = 0; i < kResultSlots; ++i) {
    pending.push_back(ep.post_fetch_add(rma, {target, kWord}, 1));
  }
  const Flushed receipt = ep.flush(target);
  std::uint64_t sum = 0;
  for (const Pending& each : pending) sum += each.value(receipt);
  CHECK(sum == kResultSlots * (kResultSlots - 1) / 2);
}

TEST_CASE("bytes of every length arrive whole, there and back") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  const std::uint32_t target = (ep.rank() + 1) % ep.ranks();
  for (const std::size_t length : {1u, 7u, 8u, 9u, 64u, 1000u, 65537u, 1u << 19}) {
    std::vector<std::byte> sent(length);
    for (std::size_t i = 0; i < length; ++i) {
      sent[i] = static_cast<std::byte>((i * 31 + length + ep.rank()) & 0xff);
    }
    ep.post_write(rma, {target, kSlots}, sent);
    ep.flush(target);
    std::vector<std::byte> back(length);
    const PendingBytes pending = ep.post_read(rma, {target, kSlots}, back);
    const auto seen = pending.bytes(ep.flush(target));
    CHECK(std::equal(seen.begin(), seen.end(), sent.begin(), sent.end()));
  }
  // An empty transfer does nothing and needs no valid address.
  ep.write(rma, {target, kSlots}, {});
  ep.read(rma, {target, kSlots}, {});
}

TEST_CASE("what an endpoint posted is complete when it is gone") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  const std::uint32_t target = (fabric.rank() + 1) % fabric.ranks();
  {
    MpiEndpoint ep = *fabric.endpoint();
    for (int i = 0; i < 10; ++i) ep.post_fetch_add(rma, {target, kWord}, 1);
  }
  fabric.barrier();
  MpiEndpoint ep = *fabric.endpoint();
  CHECK(ep.load(rma, {fabric.rank(), kWord}) == 10);
}
