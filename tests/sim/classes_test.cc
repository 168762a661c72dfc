// The two access classes in virtual time: an atomic of a card is a read and a write to the node's
// processors (SPAA'24, Table 1), unless the classes are one.
#include <catch2/catch.hpp>

#include "tests/sim/sim_fixture.h"

using namespace keyway;
using fabric::cpu;
using fabric::rma;
using fabric::SimEndpoint;
using namespace fabric::sim;
using test::plain_machine;
using test::SimFixture;
using test::word_of;

namespace {

constexpr std::uint64_t kRounds = 500;

// An atomic from outside arrives at 1040 and ends at 1240; its read is at 1240 - gap.
Machine with_gap(double ns) {
  Machine machine = plain_machine();
  machine.atomicity.gap_ns = ns;
  return machine;
}

template <class Class>
void add(SimEndpoint& ep, Class access) {
  for (std::uint64_t i = 0; i < kRounds; ++i) ep.fetch_add(access, word_of(0), 1);
}

template <class Class>
void add_by_cas(SimEndpoint& ep, Class access) {
  for (std::uint64_t done = 0; done < kRounds;) {
    const std::uint64_t seen = ep.load(access, word_of(0));
    if (ep.compare_swap(access, word_of(0), seen, seen + 1) == seen) ++done;
  }
}

// The result of a word after two agents made `kRounds` increments each, at its own node and from
// outside.
template <class Local>
std::uint64_t left_by(double gap_ns, bool cas, Local local) {
  Machine machine = with_gap(gap_ns);
  machine.cpu.load_ns = 5000;  // slow enough for the other's compare-and-swap to succeed as well
  SimFixture fixture(std::move(machine), {0, 1});
  const auto part = [cas](auto access) {
    return [cas, access](SimEndpoint& ep) { cas ? add_by_cas(ep, access) : add(ep, access); };
  };
  fixture.run({{0, part(local)}, {1, part(rma)}});
  return fixture.word(word_of(0));
}

}  // namespace

TEST_CASE("classes: a processor's store between a card's read and write is undone") {
  for (const bool between : {false, true}) {
    CAPTURE(between);
    SimFixture fixture(with_gap(150), {0, 1});
    std::uint64_t found = 0;
    fixture.run({{0,
                  [&](SimEndpoint& ep) {
                    fixture.spend(between ? 1100 : 1080);
                    ep.store(cpu, word_of(0), 77);
                  }},
                 {1, [&](SimEndpoint& ep) { found = ep.fetch_add(rma, word_of(0), 1); }}});
    CHECK(found == (between ? 0 : 77));
    CHECK(fixture.word(word_of(0)) == found + 1);
  }
}

TEST_CASE("classes: a compare-and-swap of a card that fails writes nothing") {
  SimFixture fixture(with_gap(150), {0, 1});
  fixture.run({{0,
                [&](SimEndpoint& ep) {
                  fixture.spend(1100);
                  ep.store(cpu, word_of(0), 77);
                }},
               {1, [](SimEndpoint& ep) { CHECK(ep.compare_swap(rma, word_of(0), 5, 6) == 0); }}});
  CHECK(fixture.word(word_of(0)) == 77);
}

TEST_CASE("classes: mixed on one word they lose updates, and either alone loses none") {
  const bool cas = GENERATE(false, true);
  CAPTURE(cas);
  const std::uint64_t mixed = left_by(150, cas, cpu);
  CHECK(mixed < 2 * kRounds);
  CHECK(mixed >= kRounds);
  CHECK(left_by(150, cas, rma) == 2 * kRounds);
  // Nothing fits between a read and a write of one instant.
  CHECK(left_by(0, cas, cpu) == 2 * kRounds);
}

TEST_CASE("classes: while a card's atomic is between read and write, others of the class wait") {
  SimFixture fixture(with_gap(200), {0, 1, 2, 3});
  const auto part = [](SimEndpoint& ep) { add(ep, rma); };
  fixture.run({{1, part}, {2, part}, {3, part}, {0, part}});
  CHECK(fixture.word(word_of(0)) == 4 * kRounds);
}

TEST_CASE("classes: where all share a node and the machine says so, the classes are one") {
  Machine machine = with_gap(150);
  machine.semantics.one_node_is_one_class = true;
  SimFixture fixture(machine, {0, 0});
  const double took =
      fixture.run({{0, [](SimEndpoint& ep) { add(ep, cpu); }}, {1, [](SimEndpoint& ep) {
                                                                  CHECK(ep.one_class());
                                                                  add(ep, rma);
                                                                }}});
  CHECK(fixture.word(word_of(0)) == 2 * kRounds);
  CHECK(took == kRounds * 20);
  CHECK(fixture.stats().cpu.atomics == 2 * kRounds);
}
