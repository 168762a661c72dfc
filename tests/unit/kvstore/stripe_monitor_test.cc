// The estimates from a stripe's samples, and when they justify a switch.
#include "keyway/kvstore/stripes/stripe_monitor.h"

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

TEST_CASE("monitor: a window that has grown long forgets half of everything") {
  std::uint64_t begins = 0;
  std::uint64_t word = 0;
  for (int window = 0; window < 50'000; ++window) {  // also over the end of every field
    const Samples before = Samples::between(begins, word);
    for (int i = 0; i < 96; ++i) word += Samples::one(i % 3 != 0, i % 8 == 0);
    begins = Samples::half_way(begins, word);
    const Samples kept = Samples::between(begins, word);
    const auto half_of = [](std::uint64_t all) { return Approx(all / 2.0).margin(2); };
    REQUIRE(kept.reads == half_of(before.reads + 64));
    REQUIRE(kept.writes == half_of(before.writes + 32));  // 2: fields that run over, twice
    REQUIRE(kept.waited == half_of(before.waited + 12));
  }
}

TEST_CASE("monitor: the word of the contenders keeps what it holds") {
  CHECK(LastContenders::from_word(LastContenders::word(0)) == 0);
  CHECK(LastContenders::from_word(LastContenders::word(2.5)) == 2.5);
  CHECK(LastContenders::from_word(LastContenders::word(1e9)) > 255);
}

TEST_CASE("monitor: what waits tells how many are there, where it can") {
  const Samples half{.reads = 50, .writes = 50, .waited = 50};
  const StripeView alone = view_of(half, {}, false, 9);
  CHECK(alone.workload.reads == 0.5);
  CHECK(alone.workload.local == 1);
  CHECK(alone.workload.contenders == Approx(1));  // busy half of the time
  CHECK(view_of({}, half, false, 9).workload.local == 0);
  // Readers that share do not detect one another.
  const Samples readers{.reads = 100};
  CHECK(view_of(readers, {}, true, 9).workload.contenders == Approx(9));
  CHECK(view_of(readers, {}, false, 9).workload.contenders == Approx(0));
  const Samples stuck{.writes = 100, .waited = 100};
  CHECK(view_of(stuck, {}, false, 0).workload.contenders > 10);
  CHECK(view_of({}, {}, true, 3).samples == 0);
}

TEST_CASE("monitor: a switch is due once it would have paid, and not before") {
  const KindChoice choice = choice_of();
  const auto gbh = index_of(choice, "gbh");
  const auto due_after = [&](const KindChoice& among) {
    StripeView view{.workload = {.reads = 0, .local = 1}, .samples = 1};
    while (!review_lock_kind(among, gbh, view).due) ++view.samples;
    return view.samples;
  };
  StripeView view{.workload = {.reads = 0, .local = 1}, .samples = due_after(choice)};
  const Verdict verdict = review_lock_kind(choice, gbh, view);
  CHECK(verdict.best == index_of(choice, "alock"));
  CHECK(verdict.regret_ns >= switch_ns(*choice.kinds[gbh], *choice.kinds[verdict.best],
                                       view.workload, choice.costs, choice.agents));
  // More agents to bring over: later.
  CHECK(due_after(choice_of(4000)) > view.samples);
}

TEST_CASE("monitor: the best kind has no regret") {
  const KindChoice choice = choice_of();
  const StripeView local_writes{.workload = {.reads = 0, .local = 1}, .samples = 1'000'000};
  const Verdict verdict = review_lock_kind(choice, index_of(choice, "alock"), local_writes);
  CHECK_FALSE(verdict.due);
  CHECK(verdict.regret_ns == 0);
}

TEST_CASE("monitor: what chance may have made calls for no switch, and what it cannot have does") {
  const KindChoice choice = choice_of(1);
  const auto alock = index_of(choice, "alock");
  // Local writes want ALock, remote ones GBH: somewhere between, GBH is hardly better.
  std::uint64_t due = 0;
  double local = 1;
  while (locks::choose(choice.kinds, {0, local, 0}, choice.costs).kind != "gbh") local -= 0.01;
  for (std::uint64_t n = kMinSamples; n <= kMaxSamples; ++n) {
    due += review_lock_kind(choice, alock, {{.reads = 0, .local = local}, n}).due;
  }
  CHECK(due == 0);
  // If nearly all of them are remote, few samples suffice.
  CHECK(review_lock_kind(choice, alock, {{.reads = 0, .local = 0.05}, kMaxSamples / 2}).due);
}
