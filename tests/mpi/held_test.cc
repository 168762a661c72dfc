// When operations that are held leave: when the agent waits, and at the end of its bodies.
#include <algorithm>
#include <array>
#include <chrono>

#include "keyway/locks/fabric/gather.h"
#include "keyway/locks/fabric/overlap.h"
#include "keyway/locks/fabric/wait.h"
#include "tests/mpi/joining.h"

using namespace keyway;
using namespace keyway::fabric;
using namespace keyway::test;

TEST_CASE("held: bodies that overlap share messages and round trips") {
  MpiFabric fabric = joining_fabric();
  MpiEndpoint ep = *fabric.endpoint();
  fabric.barrier();
  const std::uint32_t to = next_rank(ep);
  const bool far = !ep.is_local(to);
  bool right = true;
  const Traffic traffic = traffic_of(ep, [&] {
    ep.overlap(Overlap::kMaxBodies, [&](std::size_t i) {
      const Pending before = ep.post_fetch_add(rma, word(to, i), i + 1);
      right = right && before.value(ep.flush(to)) == 0;
      right = right && ep.load(rma, word(to, i)) == i + 1;
      ep.post_store(rma, word(to, i), 7);
    });
  });
  CHECK(right);
  if (!ep.one_class()) CHECK(traffic.round_trips == (far ? 2 : 0));
  CHECK(traffic.messages == (!far ? 0 : fabric.gathers() ? 3 : 3 * Overlap::kMaxBodies));
  ep.flush(to);
  for (std::size_t i = 0; i < Overlap::kMaxBodies; ++i) CHECK(ep.load(rma, word(to, i)) == 7);
  fabric.barrier();
}

TEST_CASE("held: a body that waits has sent what it and the others have posted") {
  MpiFabric fabric = joining_fabric();
  MpiEndpoint ep = *fabric.endpoint();
  fabric.barrier();
  if (fabric.ranks() == 1) return;
  // The last rank answers each word that the first one sets, at that rank.
  const std::uint32_t last = fabric.ranks() - 1;
  constexpr std::uint64_t kBodies = 4;
  const auto soon = [] { return Deadline::within(std::chrono::minutes(1)); };
  const auto is_set = [](std::uint64_t v) { return v != 0; };
  if (fabric.rank() == 0) {
    std::array<bool, kBodies> answered{};
    ep.overlap(kBodies, [&](std::size_t i) {
      ep.post_store(rma, word(last, i), 1);
      ep.push(last);
      if (i == 0) return;  // another waits for what this one has posted
      const std::uint64_t awaited = i == 1 ? 0 : i;
      answered[i] = !ep.wait_until(word(0, awaited), is_set, soon()).expired;
    });
    CHECK(std::count(answered.begin(), answered.end(), true) == kBodies - 1);
  } else if (fabric.rank() == last) {
    for (std::uint64_t i = 0; i < kBodies; ++i) {
      CHECK_FALSE(ep.wait_until(word(last, i), is_set, soon()).expired);
      ep.store(rma, word(0, i), 1);
    }
  }
  fabric.barrier();
}

TEST_CASE("held: what was pushed arrives without a flush") {
  MpiFabric fabric = joining_fabric();
  MpiEndpoint ep = *fabric.endpoint();
  fabric.barrier();
  const std::uint32_t to = next_rank(ep);
  // Without progress: the agent stays outside MPI.
  const auto come = [&](std::uint64_t first, std::uint64_t end) {
    const auto all_there = [&] {
      for (std::uint64_t i = first; i < end; ++i) {
        if (ep.load(cpu, word(ep.rank(), i)) != 1) return false;
      }
      return true;
    };
    return wait_loop(
        all_there, [] {}, Deadline::within(std::chrono::minutes(1)));
  };
  ep.overlap(8, [&](std::size_t i) {
    ep.post_fetch_add(rma, word(to, i), 1);
    ep.push(to);
  });
  CHECK(come(0, 8));
  post_together(ep, [&] {
    for (std::uint64_t i = 8; i < 16; ++i) ep.post_fetch_add(rma, word(to, i), 1);
    ep.push(to);
  });
  CHECK(come(8, 16));
  fabric.barrier();
}

TEST_CASE("held: more operations than slots, and many messages without a flush") {
  MpiFabric fabric = joining_fabric();
  MpiEndpoint ep = *fabric.endpoint();
  fabric.barrier();
  const std::uint32_t to = next_rank(ep);
  constexpr std::uint64_t kPosts = 3 * kResultSlots + 17;
  post_together(ep, [&] {
    for (std::uint64_t i = 0; i < kPosts; ++i) ep.post_fetch_add(rma, word(to, i % kWords), 1);
  });
  for (std::uint64_t n = 0; n < 200; ++n) {
    post_together(ep, [&] {
      for (std::uint64_t i = 0; i < 3; ++i) ep.post_fetch_add(rma, word(to, i), 1);
    });
  }
  ep.flush_all();
  fabric.barrier();
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < kWords; ++i) sum += ep.load(cpu, word(ep.rank(), i));
  CHECK(sum == kPosts + 600);
  fabric.barrier();
}
