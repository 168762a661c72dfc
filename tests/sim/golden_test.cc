// One fixed program with an end that is known to the picosecond and to the bit: a build, a host or
// a change that ends otherwise makes other runs from the same seeds.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/sim/sim_fixture.h"

using namespace keyway;
using fabric::rma;
using fabric::SimEndpoint;
using namespace fabric::sim;
using test::plain_machine;
using test::SimFixture;
using test::word_of;

namespace {

Machine everything() {
  Machine machine = plain_machine();
  machine.card.atomic_ns = 210.123;
  machine.card.ns_per_byte = 0.0371;
  machine.atomicity.gap_ns = 99.9;
  machine.queue_pairs = {.cached = 3, .miss_ns = 333.3};
  machine.jitter = {.max_ns = 2000, .mean_ns = 150};
  machine.semantics.random_service = true;
  return machine;
}

// Draws operations of all kinds, both classes and all levels; waits with a deadline.
void act(SimEndpoint& ep, std::uint32_t me, std::uint32_t rounds) {
  Rng rng(me);
  std::vector<std::byte> bytes(300, std::byte(me));
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const auto at = word_of(static_cast<std::uint32_t>(rng.below(ep.ranks())),
                            static_cast<std::uint32_t>(rng.below(8)));
    switch (rng.below(8)) {
      case 0: ep.fetch_add(rma, at, i); break;
      case 1: ep.post_swap(rma, at, i); break;
      case 2: ep.post_store(rma, at, me); break;
      case 3: ep.compare_swap(rma, at, i, me); break;
      case 4: ep.post_write(rma, at, bytes); break;
      case 5: ep.read(rma, at, bytes); break;
      case 6: ep.fetch_add(fabric::cpu, word_of(ep.rank()), 1); break;
      default:
        ep.flush(at.rank());
        ep.wait_until(
            word_of(ep.rank(), 1), [&](std::uint64_t v) { return v % 3 == 0; },
            Deadline::within(std::chrono::nanoseconds(1234)));
    }
  }
  ep.flush_all();
}

struct End {
  double time_ns;
  std::uint64_t hash;
  std::uint64_t events;
  bool operator==(const End&) const = default;
};

End end_of(std::uint64_t seed) {
  const auto racks = *Topology::override_with("rack:0,0,1", Topology::from_nodes({0, 0, 1, 1, 2}));
  SimFixture fixture(everything(), racks, seed);
  std::vector<SimFixture::Part> parts;
  for (std::uint32_t me = 0; me < 10; ++me) {
    parts.push_back({me % 5, [me](SimEndpoint& ep) { act(ep, me, 200); }});
  }
  fixture.run(parts);
  return {fixture.engine().time_ns(), fixture.engine().memory().hash(), fixture.stats().events};
}

}  // namespace

TEST_CASE("golden: a fixed program ends at the same picosecond with the same memory everywhere") {
  const End end = end_of(1);
  CAPTURE(end.time_ns, end.hash, end.events);
  CHECK(end == End{341'596.834, 0x76a095c9eec0c7a5, 4890});
}

TEST_CASE("golden: one seed is one run, and another seed another") {
  CHECK(end_of(2) == end_of(2));
  CHECK(end_of(2).time_ns != end_of(3).time_ns);
}
