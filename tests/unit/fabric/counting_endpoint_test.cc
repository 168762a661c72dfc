// CountingEndpoint: counts by operation, class and level, and changes nothing else.
#include "keyway/locks/fabric/counting_endpoint.h"

#include <array>
#include <catch2/catch.hpp>
#include <numeric>

#include "keyway/locks/fabric/shm/shm_fabric.h"
#include "keyway/locks/fabric/sim/sim_endpoint.h"

using namespace keyway;
using namespace keyway::fabric;
using sim::OpClass;
using sim::OpKind;

static_assert(Endpoint<CountingEndpoint<ShmEndpoint>>);
static_assert(Endpoint<CountingEndpoint<SimEndpoint>>);

namespace {

using Row = OpCounts::Row;

// Eight ranks: two racks of two nodes of two. Levels machine, rack, node, and the own rank.
ShmFabric eight_ranks() {
  ShmFabric::Options options;
  options.ranks = 8;
  options.segment_bytes = kReservedBytes + 4096;
  options.topology = "racks=2,nodes=4";
  return std::move(*ShmFabric::create(options));
}

Address at(std::uint32_t rank) { return {rank, kReservedBytes}; }

std::uint64_t total(const OpCounts& counts) {
  std::uint64_t sum = 0;
  for (const auto& kinds : counts.operations) {
    for (const Row& row : kinds) sum = std::accumulate(row.begin(), row.end(), sum);
  }
  return sum;
}

}  // namespace

TEST_CASE("counting: the level is the finest one that agent and target share") {
  ShmFabric fabric = eight_ranks();
  CountingEndpoint ep(*fabric.endpoint(2));
  for (std::uint32_t rank = 0; rank < 8; ++rank) ep.fetch_add(rma, at(rank), 1);
  // Ranks 4..7 are in the other rack, 0 and 1 on the rack's other node, 3 on the same node.
  CHECK(ep.counts().of(OpClass::kRma, OpKind::kAdd) == Row{4, 2, 1, 1});
  CHECK(total(ep.counts()) == 8);
}

TEST_CASE("counting: every operation counts once, under its own name and class") {
  ShmFabric fabric = eight_ranks();
  CountingEndpoint ep(*fabric.endpoint(0));
  const auto all = [&](auto c) {
    std::array<std::byte, 8> bytes{};
    ep.load(c, at(0)), ep.post_load(c, at(0));
    ep.store(c, at(0), 1), ep.post_store(c, at(0), 2);
    ep.swap(c, at(0), 3), ep.post_swap(c, at(0), 4);
    ep.fetch_add(c, at(0), 1), ep.post_fetch_add(c, at(0), 1);
    ep.fetch_or(c, at(0), 1), ep.post_fetch_or(c, at(0), 1);
    ep.compare_swap(c, at(0), 0, 0), ep.post_compare_swap(c, at(0), 0, 0);
    ep.read(c, at(0), bytes), ep.post_read(c, at(0), bytes);
    ep.write(c, at(0), bytes), ep.post_write(c, at(0), bytes);
  };
  all(cpu);
  CHECK(total(ep.counts()) == 16);
  all(rma);
  for (const OpClass access : {OpClass::kCpu, OpClass::kRma}) {
    for (std::size_t kind = 0; kind < OpCounts::kKinds; ++kind) {
      CHECK(ep.counts().of(access, static_cast<OpKind>(kind)) == Row{0, 0, 0, 2});
    }
  }
}

TEST_CASE("counting: results, waits and attempts are those of the endpoint beneath") {
  ShmFabric fabric = eight_ranks();
  CountingEndpoint ep(*fabric.endpoint(1));
  CHECK(ep.fetch_add(rma, at(5), 7) == 0);
  CHECK(ep.compare_swap(rma, at(5), 7, 9) == 7);
  const Pending pending = ep.post_load(rma, at(5));
  CHECK(pending.value(ep.flush(5)) == 9);
  CHECK(ep.counts().flushes == Row{1, 0, 0, 0});

  const auto never = [](std::uint64_t v) { return v == 1; };
  CHECK(ep.wait_until(at(1), never, Deadline::now()).expired);
  CHECK(ep.counts().looks[3] > 0);
  CHECK(ep.counts().looks[0] == 0);
  CHECK(ep.wait_until_remote(
              at(5), [](std::uint64_t v) { return v == 9; }, Backoff::none(), Deadline::now())
            .value == 9);
  CHECK(ep.counts().looks[0] == 1);

  int attempts = 0;
  CHECK(ep.retry_until([&] { return ep.swap(rma, at(5), 0) == 0 || ++attempts > 5; },
                       Backoff::none(), Deadline::never()));
  CHECK(ep.counts().of(OpClass::kRma, OpKind::kSwap) == Row{2, 0, 0, 0});
  CHECK(attempts == 1);
}

TEST_CASE("counting: counts of agents add up") {
  ShmFabric fabric = eight_ranks();
  CountingEndpoint first(*fabric.endpoint(0));
  CountingEndpoint second(*fabric.endpoint(4));
  first.load(rma, at(4));
  second.load(rma, at(4));
  OpCounts sum;
  sum += first.counts();
  sum += second.counts();
  CHECK(sum.of(OpClass::kRma, OpKind::kLoad) == Row{1, 0, 0, 1});
}
