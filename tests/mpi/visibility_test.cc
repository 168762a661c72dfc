// The guarantee of a completed remote write to the processors of the target (E4), and that a word
// may be overwritten as soon as wait_until has returned it (N2).
#include <cstring>
#include <vector>

#include "tests/support/mpi_job.h"

using namespace keyway;
using namespace keyway::fabric;
using test::make_mpi_fabric;

namespace {

constexpr std::uint64_t kFlag = kReservedBytes;
constexpr std::uint64_t kReply = kReservedBytes + 64;
constexpr std::uint64_t kBytes = kReservedBytes + 128;
constexpr std::size_t kLength = 4000;
constexpr std::uint64_t kSegment = kReservedBytes + 8192;

std::vector<std::byte> message(std::uint64_t round) {
  std::vector<std::byte> bytes(kLength);
  std::memset(bytes.data(), static_cast<int>(round & 0xff), bytes.size());
  return bytes;
}

// Every rank notifies the next one, and is notified by the one before it.
struct Ring {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  std::uint32_t next = (ep.rank() + 1) % ep.ranks();
  std::uint32_t previous = (ep.rank() + ep.ranks() - 1) % ep.ranks();
  Address own_flag{ep.rank(), kFlag};
  Address own_reply{ep.rank(), kReply};
};

}  // namespace

TEST_CASE("bytes written and flushed before a store are there when the store is seen") {
  auto [fabric, ep, next, previous, own_flag, own_reply] = Ring();
  for (std::uint64_t round = 1; round <= 200; ++round) {
    const auto sent = message(round);
    ep.post_write(rma, {next, kBytes}, sent);
    ep.flush(next);
    ep.store(rma, {next, kFlag}, round);

    const auto is_round = [&](std::uint64_t v) { return v == round; };
    ep.wait_until(own_flag, is_round, Deadline::never());
    std::vector<std::byte> direct(kLength);
    ep.read(cpu, {ep.rank(), kBytes}, direct);
    REQUIRE(direct == message(round));
    std::vector<std::byte> through(kLength);
    ep.read(rma, {ep.rank(), kBytes}, through);
    REQUIRE(through == message(round));

    ep.store(rma, {previous, kReply}, round);  // its buffer and our memory may be used again
    ep.wait_until(own_reply, is_round, Deadline::never());
  }
}

TEST_CASE("bytes stored directly are seen by a rank that reads the flag through the fabric") {
  auto [fabric, ep, next, previous, own_flag, own_reply] = Ring();
  for (std::uint64_t round = 1; round <= 200; ++round) {
    ep.write(cpu, {ep.rank(), kBytes}, message(round));
    ep.store(cpu, {ep.rank(), kFlag}, round);
    ep.wait_until_remote(
        {previous, kFlag}, [&](std::uint64_t v) { return v == round; }, Backoff::none(),
        Deadline::never());
    std::vector<std::byte> seen(kLength);
    ep.read(rma, {previous, kBytes}, seen);
    REQUIRE(seen == message(round));
    fabric.barrier();
  }
}

TEST_CASE("a word that a remote store has set can be overwritten at once") {
  auto [fabric, ep, next, previous, own_flag, own_reply] = Ring();
  for (std::uint64_t round = 1; round <= 1000; ++round) {
    if (round % 2 == 0) {
      ep.store(rma, {next, kFlag}, round);
    } else {
      REQUIRE(ep.compare_swap(rma, {next, kFlag}, 0, round) == 0);
    }
    ep.wait_until(
        own_flag, [&](std::uint64_t v) { return v == round; }, Deadline::never());
    ep.store(cpu, own_flag, 0);
    ep.store(rma, {previous, kReply}, round);
    ep.wait_until(
        own_reply, [&](std::uint64_t v) { return v == round; }, Deadline::never());
    // N2: our own store to `next` is complete and so is its owner's answer: 0 stays 0.
    REQUIRE(ep.load(rma, {next, kFlag}) == 0);
  }
}

// N2 without a race: before a wait ends, it checks its word again by an rma load.
TEST_CASE("a wait looks at its word through the rma class before it ends") {
  auto [fabric, ep, next, previous, own_flag, own_reply] = Ring();
  ep.store(rma, own_flag, 1);
  std::uint64_t looks = 0;
  const auto seen = [&looks](std::uint64_t v) { return ++looks > 0 && v == 1; };
  CHECK_FALSE(ep.wait_until(own_flag, seen, Deadline::never()).expired);
  CHECK(looks == (ep.one_class() ? 1u : 2u));
  fabric.barrier();
}

TEST_CASE("a fence orders a store before a later load, as Peterson's lock needs; so does order()") {
  const bool by_fence = GENERATE(true, false);
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  // Store buffering: each of two ranks raises its flag and reads the other's. Both may not read 0.
  const bool plays = ep.ranks() > 1 && ep.rank() < 2;
  std::uint64_t both_missed = 0;
  for (std::uint64_t round = 0; round < 200; ++round) {
    const std::uint64_t mine = kBytes + 16 * round + 8 * (ep.rank() & 1);
    const std::uint64_t other = kBytes + 16 * round + 8 * ((ep.rank() + 1) & 1);
    fabric.barrier();
    std::uint64_t missed = 0;
    if (plays) {
      ep.post_store(rma, {0, mine}, 1);
      by_fence ? ep.fence() : ep.order(0);
      missed = ep.load(rma, {0, other}) == 0 ? 1 : 0;
    }
    if (fabric.allreduce_sum(missed) == 2) ++both_missed;
  }
  CHECK(both_missed == 0);
}
