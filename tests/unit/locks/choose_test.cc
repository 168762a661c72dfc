// choose(): the extremes, and that the model moves the way it must.
#include "keyway/locks/distributed/choose.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "keyway/locks/distributed/any_lock.h"

using namespace keyway::locks;

namespace {

// A cluster: by the processor tens of ns, through the card about a microsecond, far about two.
constexpr PrimitiveCosts kCluster{.cpu_atomic_ns = 20,
                                  .loopback_ns = 900,
                                  .rma_atomic_ns = 2000,
                                  .posted_ns = 150,
                                  .order_ns = 1000,
                                  .nodes = 16,
                                  .counters = 16};
// The same for a library that reaches the memory of its node without the card.
constexpr PrimitiveCosts kSharedNodes{.cpu_atomic_ns = 20,
                                      .loopback_ns = 60,
                                      .rma_atomic_ns = 2000,
                                      .posted_ns = 150,
                                      .order_ns = 1000,
                                      .nodes = 16,
                                      .counters = 16};

std::vector<const Footprint*> all() {
  std::vector<const Footprint*> kinds;
  for (const Footprint& kind : footprints()) kinds.push_back(&kind);
  return kinds;
}

std::string chosen(const Workload& workload, const PrimitiveCosts& costs) {
  return std::string(choose(all(), workload, costs).kind);
}

constexpr double kReads[] = {0, 0.5, 0.95, 1};
constexpr double kLocal[] = {0, 0.5, 0.9, 1};
constexpr double kContenders[] = {0, 0.5, 4, 100};

template <class Check>
void for_each_workload(Check&& check) {
  for (const double reads : kReads) {
    for (const double local : kLocal) {
      for (const double contenders : kContenders) {
        CAPTURE(reads, local, contenders);
        for (const Footprint& kind : footprints()) {
          CAPTURE(kind.kind);
          check(kind, Workload{reads, local, contenders});
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("choose: the extremes") {
  for (const PrimitiveCosts& costs : {kCluster, kSharedNodes}) {
    // Read from everywhere, hardly ever written: a reader's word is near to it.
    CHECK(chosen({.reads = 1, .local = 1.0 / 16, .contenders = 2}, costs) == "rma-rw");
    CHECK(chosen({.reads = 0.998, .local = 1.0 / 16, .contenders = 8}, costs) == "rma-rw");
    // Written at its owner: the network is kept out of it.
    CHECK(chosen({.reads = 0, .local = 1, .contenders = 0}, costs) == "alock");
    CHECK(chosen({.reads = 0, .local = 1, .contenders = 8}, costs) == "alock");
    // Written from everywhere, one at a time: the fewest round trips.
    CHECK(chosen({.reads = 0, .local = 0, .contenders = 0}, costs) == "gbh");
    // Written from everywhere, by many at once: a queue.
    const std::string crowded = chosen({.reads = 0, .local = 0, .contenders = 20}, costs);
    CHECK((crowded == "d-mcs" || crowded == "alock"));
  }
  // One node, one class: nothing is near or far, and two atomics are the fewest.
  const PrimitiveCosts one_node{};
  CHECK(chosen({.reads = 0, .local = 1, .contenders = 0}, one_node) == "gbh");
}

TEST_CASE("choose: whatever costs more, costs no kind less") {
  for_each_workload([](const Footprint& kind, const Workload& workload) {
    const double base = acquisition_ns(kind, workload, kCluster);
    CHECK(base > 0);
    for (double PrimitiveCosts::*cost :
         {&PrimitiveCosts::cpu_atomic_ns, &PrimitiveCosts::loopback_ns,
          &PrimitiveCosts::rma_atomic_ns, &PrimitiveCosts::posted_ns, &PrimitiveCosts::order_ns,
          &PrimitiveCosts::counters}) {
      PrimitiveCosts dearer = kCluster;
      dearer.*cost *= 2;
      CHECK(acquisition_ns(kind, workload, dearer) >= base);
    }
    Workload crowded = workload;
    crowded.contenders += 1;
    CHECK(acquisition_ns(kind, crowded, kCluster) >= base);
  });
}

TEST_CASE("choose: what a kind is good at moves the choice towards it, never away") {
  const auto rank_of = [](std::string_view kind, const Workload& workload) {
    std::size_t cheaper = 0;
    const Footprint* mine = nullptr;
    for (const Footprint& each : footprints()) {
      if (each.kind == kind) mine = &each;
    }
    REQUIRE(mine != nullptr);
    for (const Footprint& each : footprints()) {
      cheaper +=
          acquisition_ns(each, workload, kCluster) < acquisition_ns(*mine, workload, kCluster);
    }
    return cheaper;
  };
  for (const double contenders : kContenders) {
    for (std::size_t i = 1; i < std::size(kReads); ++i) {  // remote: more reads, better for readers
      CHECK(rank_of("rma-rw", {kReads[i], 0, contenders}) <=
            rank_of("rma-rw", {kReads[i - 1], 0, contenders}));
    }
    for (std::size_t i = 1; i < std::size(kLocal); ++i) {  // writes: nearer is better for alock
      CHECK(rank_of("alock", {0, kLocal[i], contenders}) <=
            rank_of("alock", {0, kLocal[i - 1], contenders}));
    }
  }
}

TEST_CASE("choose: the candidates of this build are kinds of this build") {
  const auto known = candidates();
  REQUIRE_FALSE(known.empty());
  for (const Footprint* kind : known) {
    CAPTURE(kind->text);
    const auto lock = AnyLock::make(kind->text);
    REQUIRE(lock.ok());
    CHECK(lock->traits().readers_share == kind->readers_share);
    CHECK(lock->traits().queued == (kind->waiting == Waiting::kQueue));
  }
}

TEST_CASE("choose: the reason names the cheapest first and what was asked") {
  const std::string text = why(all(), {.reads = 0, .local = 1}, kCluster);
  CAPTURE(text);
  CHECK(text.starts_with("alock 60 ns per acquisition, "));
  CHECK(text.find("(0% reads, 100% local, 0.0 others at the lock; costs in ns: cpu 20, ") !=
        std::string::npos);
}
