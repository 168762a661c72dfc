// ShmFabric: options, segments, agent slots, the endpoint's operations in both classes.
#include "keyway/locks/fabric/shm/shm_fabric.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstring>
#include <thread>
#include <type_traits>
#include <vector>

#include "tests/support/child.h"

namespace keyway::fabric {
namespace {

static_assert(Endpoint<ShmEndpoint>);
static_assert(std::is_move_constructible_v<ShmEndpoint> &&
              !std::is_copy_constructible_v<ShmEndpoint>);
static_assert(!Endpoint<int>);

ShmFabric::Options options(std::uint32_t ranks) {
  return {.ranks = ranks, .segment_bytes = kReservedBytes + 4096, .agents_per_rank = 2};
}

TEST_CASE("options out of bounds are refused with what to do") {
  const auto refused = [](const ShmFabric::Options& wrong, const std::string& part) {
    const auto made = ShmFabric::create(wrong);
    REQUIRE_FALSE(made.ok());
    INFO(made.status().message());
    CHECK(made.code() == Code::kInvalidArgument);
    CHECK(made.status().message().find(part) != std::string_view::npos);
  };
  refused(options(0), "ask for 1 to 65535");
  refused(options(Address::kMaxRanks), "ask for 1 to 65535");
  auto wrong = options(2);
  wrong.agents_per_rank = 0;
  refused(wrong, "ask for 1 to 65535");
  wrong.agents_per_rank = 0x10000;
  refused(wrong, "ask for 1 to 65535");
  wrong = options(1024);  // 2^22 agents of a job, and not one for each rank more
  wrong.agents_per_rank = 4097;
  refused(wrong, "4097 agents per rank: ask for 1 to 4096");
  wrong = options(4);
  wrong.topology = "nodes=3";
  refused(wrong, "nodes");
  wrong = options(2);
  wrong.segment_bytes = ~std::uint64_t{0};  // must not wrap round to a small mapping
  refused(wrong, "ask for at most");
}

TEST_CASE("memory that cannot be had is an error, not a crash") {
  auto large = options(60'000);
  large.segment_bytes = Address::kMaxOffset;
  CHECK(ShmFabric::create(large).code() == Code::kOutOfSpace);
}

TEST_CASE("segments are zeroed, disjoint and aligned") {
  auto fabric = *ShmFabric::create(options(3));
  CHECK(fabric.ranks() == 3);
  auto ep = *fabric.endpoint(1);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    CHECK(reinterpret_cast<std::uintptr_t>(ep.view({rank, 0})) % 4096 == 0);
    for (std::uint64_t at = 0; at < fabric.segment_bytes(); at += 8) {
      REQUIRE(ep.load(rma, {rank, at}) == 0);
      ep.store(rma, {rank, at}, rank + 1);
    }
  }
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    for (std::uint64_t at = 0; at < fabric.segment_bytes(); at += 8) {
      REQUIRE(ep.load(cpu, {rank, at}) == rank + 1);
    }
  }
}

TEST_CASE("agents have a slot each, and slots come back") {
  auto fabric = *ShmFabric::create(options(2));
  CHECK(fabric.endpoint(2).code() == Code::kInvalidArgument);
  auto first = *fabric.endpoint(1);
  CHECK(first.agent() == AgentId{1, 0});
  {
    auto second = *fabric.endpoint(1);
    CHECK(second.agent() == AgentId{1, 1});
    const auto third = fabric.endpoint(1);
    CHECK(third.code() == Code::kUnavailable);
    CHECK(third.status().message().find("agents_per_rank") != std::string_view::npos);
    CHECK((*fabric.endpoint(0)).agent() == AgentId{0, 0});
  }
  CHECK((*fabric.endpoint(1)).agent() == AgentId{1, 1});
}

TEST_CASE("an endpoint outlives a move of its fabric") {
  auto made = *ShmFabric::create(options(2));
  auto moved = *ShmFabric::create(options(1));  // declared first: a fabric outlives its endpoints
  auto ep = *made.endpoint(0);
  ep.store(rma, {1, kReservedBytes}, 9);
  moved = std::move(made);
  CHECK(ep.load(rma, {1, kReservedBytes}) == 9);
  CHECK(ep.topology().ranks() == 2);
}

TEMPLATE_TEST_CASE("words and bytes in each class", "", CpuClass, RmaClass) {
  auto fabric = *ShmFabric::create(options(2));
  auto ep = *fabric.endpoint(0);
  const TestType access;
  const Address a(1, kReservedBytes);
  CHECK(ep.swap(access, a, 3) == 0);
  CHECK(ep.fetch_add(access, a, 4) == 3);
  CHECK(ep.fetch_or(access, a, 8) == 7);
  CHECK(ep.compare_swap(access, a, 1, 0) == 15);
  CHECK(ep.compare_swap(access, a, 15, 16) == 15);
  const Pending loaded = ep.post_load(access, a);
  const Pending added = ep.post_fetch_add(access, a, 1);
  const Pending swapped = ep.post_swap(access, a, 2);
  const Pending ored = ep.post_fetch_or(access, a, 5);
  const Pending compared = ep.post_compare_swap(access, a, 7, 11);
  ep.post_store(access, a + 8, 1);
  const Flushed receipt = ep.flush(1);
  CHECK(loaded.value(receipt) == 16);
  CHECK(added.value(receipt) == 16);
  CHECK(swapped.value(receipt) == 17);
  CHECK(ored.value(receipt) == 2);
  CHECK(compared.value(receipt) == 7);
  CHECK(ep.load(access, a) == 11);
  CHECK(ep.load(access, a + 8) == 1);

  // Bytes need no alignment and reach to the last byte of a segment.
  const std::array<std::byte, 5> in{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                                    std::byte{5}};
  std::array<std::byte, 5> out{};
  const Address end(1, fabric.segment_bytes() - in.size());
  ep.write(access, end, in);
  ep.read(access, end, out);
  CHECK(out == in);
  out = {};
  ep.post_write(access, end, in);
  const PendingBytes read = ep.post_read(access, end, out);
  const auto bytes = read.bytes(ep.flush(1));
  CHECK(std::memcmp(bytes.data(), in.data(), in.size()) == 0);
}

#ifdef KEYWAY_DCHECK
TEST_CASE("bytes past the end of a segment are a broken invariant") {
  auto fabric = *ShmFabric::create(options(1));
  auto ep = *fabric.endpoint(0);
  std::array<std::byte, 16> out{};
  const auto past = [&] { ep.read(rma, {0, fabric.segment_bytes() - 15}, out); };
  CHECK(test::run_in_child(past).signal == SIGABRT);
}
#endif

TEST_CASE("waiting sees another agent's store, and a deadline ends it") {
  auto fabric = *ShmFabric::create(options(2));
  auto ep = *fabric.endpoint(0);
  const Address own(0, kReservedBytes);
  const auto is_two = [](std::uint64_t value) { return value == 2; };
  auto waited = ep.wait_until(own, is_two, Deadline::now());
  CHECK(waited.expired);
  CHECK(waited.value == 0);
  CHECK_FALSE(ep.retry_until([] { return false; }, Backoff{10, 100}, Deadline::now()));
  std::jthread other([&fabric, own] {
    auto peer = *fabric.endpoint(1);
    peer.store(rma, own, 1);
    peer.store(rma, own, 2);
  });
  waited = ep.wait_until(own, is_two, Deadline::never());
  CHECK_FALSE(waited.expired);
  CHECK(waited.value == 2);
  waited = ep.wait_until_remote(own, is_two, Backoff{10, 100}, Deadline::now());
  CHECK_FALSE(waited.expired);
  CHECK(waited.value == 2);
}

// E4: an agent that has read a store sees the writes before it. Under ThreadSanitizer this is a
// proof for the bytes, which are plain memory.
TEST_CASE("a store publishes what was written before it") {
  auto fabric = *ShmFabric::create(options(2));
  const Address flag(0, kReservedBytes);
  const Address data(1, kReservedBytes);
  std::jthread writer([&] {
    auto ep = *fabric.endpoint(1);
    for (std::uint64_t round = 1; round <= 500; ++round) {
      ep.write(rma, data, std::as_bytes(std::span(&round, 1)));
      ep.store(rma, flag, 2 * round - 1);
      ep.wait_until_remote(
          flag, [&](std::uint64_t v) { return v == 2 * round; }, Backoff::none(),
          Deadline::never());
    }
  });
  auto ep = *fabric.endpoint(0);
  for (std::uint64_t round = 1; round <= 500; ++round) {
    ep.wait_until(
        flag, [&](std::uint64_t v) { return v == 2 * round - 1; }, Deadline::never());
    std::uint64_t seen = 0;
    ep.read(rma, data, std::as_writable_bytes(std::span(&seen, 1)));
    REQUIRE(seen == round);
    ep.store(rma, flag, 2 * round);
  }
}

// fence(), order(): in Dekker's pattern at least one of two agents sees the other's store.
TEST_CASE("a fence orders a store before a later load, and so does order()") {
  const bool by_fence = GENERATE(true, false);
  auto fabric = *ShmFabric::create(options(2));
  constexpr std::uint64_t kTrials = 2000;
  const auto word = [](std::uint32_t side) { return Address(side, kReservedBytes); };
  const auto arrivals = Address(0, kReservedBytes + 64);
  std::array<std::vector<std::uint64_t>, 2> seen;
  const auto run = [&](std::uint32_t side) {
    auto ep = *fabric.endpoint(side);
    for (std::uint64_t trial = 1; trial <= kTrials; ++trial) {
      ep.fetch_add(rma, arrivals, 1);
      ep.wait_until_remote(
          arrivals, [&](std::uint64_t v) { return v >= 2 * trial; }, Backoff::none(),
          Deadline::never());
      ep.store(rma, word(side), trial);
      by_fence ? ep.fence() : ep.order(1 - side);
      seen[side].push_back(ep.load(rma, word(1 - side)));
    }
  };
  std::jthread other([&] { run(1); });
  run(0);
  other.join();
  for (std::uint64_t trial = 1; trial <= kTrials; ++trial) {
    const bool either = seen[0][trial - 1] >= trial || seen[1][trial - 1] >= trial;
    REQUIRE(either);
  }
}

}  // namespace
}  // namespace keyway::fabric
