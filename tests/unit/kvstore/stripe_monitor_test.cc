// What samples say about a stripe, and when they are worth a switch.
#include "keyway/kvstore/stripe_monitor.h"

#include <catch2/catch.hpp>

using namespace keyway;
using namespace keyway::store;

namespace {

KindChoice choice_of(double agents = 4) {
  KindChoice choice{.agents = agents};
  for (const locks::Footprint& kind : locks::footprints()) choice.kinds.push_back(&kind);
  choice.costs = {.cpu_atomic_ns = 20,
                  .loopback_ns = 500,
                  .rma_atomic_ns = 2000,
                  .posted_ns = 100,
                  .nodes = 16,
                  .counters = 16};
  return choice;
}

locks::KindIndex index_of(const KindChoice& choice, std::string_view kind) {
  for (std::size_t i = 0; i < choice.kinds.size(); ++i) {
    if (choice.kinds[i]->kind == kind) return static_cast<locks::KindIndex>(i);
  }
  FAIL("no such kind");
  return 0;
}

}  // namespace

TEST_CASE("monitor: samples count what was left, over any number of windows") {
  std::uint64_t word = 0;
  for (int window = 0; window < 50'000; ++window) {
    const std::uint64_t before = word;
    for (int i = 0; i < 97; ++i) word += Samples::one(i % 3 != 0, i % 10 == 0);
    const Samples seen = Samples::between(before, word);
    REQUIRE(seen.reads == 64);
    REQUIRE(seen.writes >= 33);  // a field that has run over has left one in the next
    REQUIRE(seen.writes <= 34);
    REQUIRE(seen.waited == 10);
  }
}

TEST_CASE("monitor: regret's word keeps what it holds") {
  const Regret regret{.best = 3, .others = 2.5, .ns = 123456};
  const Regret back = Regret::from_word(regret.word());
  CHECK(back.best == 3);
  CHECK(back.others == 2.5);
  CHECK(back.ns == 123456);
  const Regret huge = Regret::from_word(Regret{.best = 255, .others = 1e9, .ns = 1e18}.word());
  CHECK(huge.best == 255);
  CHECK(huge.others > 255);
  CHECK(huge.ns > 1e12);
}

TEST_CASE("monitor: what waits tells how many are there, where it can") {
  const Samples half{.reads = 50, .writes = 50, .waited = 50};
  const StripeView alone = view_of(half, {}, false, 9);
  CHECK(alone.workload.reads == 0.5);
  CHECK(alone.workload.local == 1);
  CHECK(alone.workload.others == Approx(1));  // busy half of the time
  CHECK(view_of({}, half, false, 9).workload.local == 0);
  // Readers that share tell nothing of one another.
  const Samples readers{.reads = 100};
  CHECK(view_of(readers, {}, true, 9).workload.others == Approx(9));
  CHECK(view_of(readers, {}, false, 9).workload.others == Approx(0));
  const Samples stuck{.writes = 100, .waited = 100};
  CHECK(view_of(stuck, {}, false, 0).workload.others > 10);
  CHECK(view_of({}, {}, true, 3).samples == 0);
}

TEST_CASE("monitor: a switch is due once it would have paid, and not before") {
  const KindChoice choice = choice_of();
  const auto gbh = index_of(choice, "gbh");
  const StripeView local_writes{.workload = {.reads = 0, .local = 1}, .samples = 10};
  Regret regret;
  int looks = 1;
  while (!weigh(choice, gbh, local_writes, regret)) ++looks;
  CHECK(regret.best - 1 == index_of(choice, "alock"));
  CHECK(regret.ns >= switch_ns(*choice.kinds[gbh], *choice.kinds[regret.best - 1],
                               local_writes.workload, choice.costs, choice.agents));
  // More agents to bring over: later.
  Regret later;
  int more = 1;
  while (!weigh(choice_of(4000), gbh, local_writes, later)) ++more;
  CHECK(more > looks);
}

TEST_CASE("monitor: the best kind has no regret, and a wavering workload loses it") {
  const KindChoice choice = choice_of(1000);
  const auto alock = index_of(choice, "alock");
  const StripeView local_writes{.workload = {.reads = 0, .local = 1}, .samples = 10};
  const StripeView remote_reads{.workload = {.reads = 1, .local = 0, .others = 2}, .samples = 10};
  Regret regret;
  CHECK_FALSE(weigh(choice, alock, local_writes, regret));
  CHECK(regret.ns == 0);
  for (int i = 0; i < 1000; ++i) {  // turn and turn about: neither pays for a switch
    REQUIRE_FALSE(weigh(choice, alock, remote_reads, regret));
    REQUIRE(regret.ns > 0);
    REQUIRE_FALSE(weigh(choice, alock, local_writes, regret));
    REQUIRE(regret.ns == 0);
  }
}
