// The parts of virtual time: times, random numbers, the queue of events, watchers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "keyway/locks/fabric/sim/event_queue.h"
#include "keyway/locks/fabric/sim/exponential.h"
#include "keyway/locks/fabric/sim/network.h"
#include "keyway/locks/fabric/sim/watch_list.h"

using namespace keyway;
using namespace fabric::sim;

TEST_CASE("virtual time: costs round to picoseconds once, and the end of time stays there") {
  CHECK(picos(0.0004) == 0);
  CHECK(picos(0.0006) == 1);
  CHECK(picos(1.5) == 1500);
  CHECK(picos_of_ns(7) == 7000);
  CHECK(picos_of_ns(~0ULL) == kEndOfTime);
  CHECK(picos_of_ns(kEndOfTime / 1000 + 1) == kEndOfTime);
  // A tenth of a ns per byte, exactly, for any number of bytes.
  for (const std::uint64_t bytes : {1, 3, 4096, 1 << 29})
    CHECK(ByteCost(0.1).of(bytes) == 100 * bytes);
}

TEST_CASE("virtual time: exponential draws follow their law, and are the same everywhere") {
  constexpr Picos kMean = 1'000'000;
  constexpr int kDraws = 200'000;
  Rng rng(3);
  double sum = 0;
  double squares = 0;
  std::vector<int> above(8, 0);
  for (int i = 0; i < kDraws; ++i) {
    const double x = static_cast<double>(exponential(rng, kMean)) / kMean;
    sum += x;
    squares += x * x;
    for (std::size_t k = 0; k < above.size(); ++k) above[k] += x > static_cast<double>(k) / 2;
  }
  // Five standard deviations of the estimates.
  const double sigma = 5 / std::sqrt(kDraws);
  CHECK(sum / kDraws == Approx(1).margin(sigma));
  CHECK(squares / kDraws == Approx(2).margin(sigma * std::sqrt(20)));
  for (std::size_t k = 0; k < above.size(); ++k) {
    const double law = std::exp(-static_cast<double>(k) / 2);
    CHECK(above[k] / static_cast<double>(kDraws) ==
          Approx(law).margin(sigma * std::sqrt(law * (1 - law)) + 1e-6));
  }
  Rng fixed(1);
  std::vector<Picos> first;
  for (int i = 0; i < 4; ++i) first.push_back(exponential(fixed, kMean));
  CHECK(first == std::vector<Picos>{1'879'191, 762'566, 1'055'062, 4'478'765});
}

TEST_CASE("virtual time: events come in order of time, and of making where times are equal") {
  EventQueue queue;
  CHECK(queue.next() == kEndOfTime);
  Rng rng(5);
  std::set<std::pair<Picos, std::uint32_t>> model;
  Picos now = 0;
  for (std::uint32_t made = 0; made < 20'000; ++made) {
    // Near and far, and often at the same time.
    const Picos at = now + (rng.below(3) == 0 ? 0 : rng.below(Picos{1} << rng.below(40)));
    queue.add(at, What::kResume, made, made);
    model.emplace(at, made);
    // Time may move on without an event being taken, up to the next one.
    if (rng.below(4) == 0) now += rng.below(queue.next() - now + 1);
    for (auto takes = rng.below(3); takes > 0 && !queue.empty(); --takes) {
      REQUIRE(queue.next() == model.begin()->first);
      const Event event = queue.take();
      REQUIRE(std::pair(event.at, event.subject) == *model.begin());
      REQUIRE(event.stay == event.subject);
      REQUIRE(event.what() == What::kResume);
      model.erase(model.begin());
      now = event.at;
    }
  }
  while (!queue.empty()) {
    const Event event = queue.take();
    REQUIRE(event.subject == model.begin()->second);
    now = event.at;
    model.erase(model.begin());
  }
  CHECK(model.empty());
  queue.add(now + 5, What::kLook, 1);
  queue.clear();
  CHECK(queue.empty());
  CHECK(queue.next() == kEndOfTime);
}

TEST_CASE("virtual time: a watch list holds who waits for a word, in order") {
  constexpr std::uint32_t kAgents = 40;
  WatchList list;
  list.reset(kAgents);
  std::vector<std::deque<std::uint32_t>> model(6);  // by word: the waiters, in order
  std::vector<int> waits_for(kAgents, -1);
  const auto word = [](int k) {
    return fabric::Address(static_cast<std::uint32_t>(k % 3),
                           4096 + 8 * static_cast<std::uint64_t>(k));
  };
  Rng rng(11);
  for (int step = 0; step < 5000; ++step) {
    const auto agent = static_cast<std::uint32_t>(rng.below(kAgents));
    int& waits = waits_for[agent];
    if (waits < 0) {
      waits = static_cast<int>(rng.below(model.size()));
      list.add(agent, word(waits));
      model[static_cast<std::size_t>(waits)].push_back(agent);
    } else {
      list.remove(agent);
      std::erase(model[static_cast<std::size_t>(waits)], agent);
      waits = -1;
    }
    const int looked = static_cast<int>(rng.below(model.size()));
    std::deque<std::uint32_t> found;
    list.each(word(looked), [&](std::uint32_t a) { found.push_back(a); });
    REQUIRE(found == model[static_cast<std::size_t>(looked)]);
    REQUIRE(list.empty() == (std::count(waits_for.begin(), waits_for.end(), -1) == kAgents));
  }
}

TEST_CASE("virtual time: a set of limited size forgets what was touched longest ago") {
  LruSet set(3);
  for (const std::uint64_t key : {1, 2, 3}) CHECK_FALSE(set.touch(key));
  CHECK(set.touch(1));
  CHECK_FALSE(set.touch(4));  // in the place of 2
  CHECK(set.touch(3));
  CHECK(set.touch(1));
  CHECK(set.touch(4));
  CHECK_FALSE(set.touch(2));  // in the place of 3
  CHECK_FALSE(set.touch(3));
}
