// Time and expiry: an operation uses one time for all its keys, and what one session has found past
// is past for all of them, however the clocks of their hosts go (expiry_clock.h, T1 to T5).
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/kvstore/layout/element.h"
#include "keyway/kvstore/volume/expiry_clock.h"
#include "keyway/locks/base/rng.h"
#include "tests/store/sim/clocked_session.h"
#include "tests/store/sim/sim_runs.h"
#include "tests/support/shaken_machine.h"

using namespace keyway;
using namespace keyway::test;

namespace {

using ClockedStore = SimStore<ClockedEndpoint>;
using ClockedSession = ClockedStore::Session;
using Keys = std::vector<std::string_view>;

constexpr std::uint64_t kExpiry = 1'000'000;
constexpr std::string_view kValue = "a value that is too long for a bucket's line";

/// A clock that advances by a millisecond at each reading: code that reads it twice sees time pass.
struct TickingClock {
  std::uint64_t now = kExpiry - 1000;
  std::uint64_t step = 0;

  ClockedEndpoint::WallMs wall() {
    return [this] { return std::exchange(now, now + step); };
  }
};

/// Three keys with one expiry, on as many ranks as there are, and a session of rank 0.
struct SharedExpiry {
  explicit SharedExpiry(std::uint32_t ranks)
      : store({.ranks = ranks, .machine = shaken_machine(1, 0)}),
        session(store.session(0, clock.wall())) {
    for (const std::string_view key : keys) {
      REQUIRE(session->put(key, kValue, {.expires_at_ms = kExpiry}).ok());
    }
  }
  /// From now on time passes, starting this many ms before the expiry.
  void start(std::uint64_t before) {
    clock.now = kExpiry - before;
    clock.step = 1;
  }
  /// The number of keys with an expiry that a later session, with a clock from before, finds.
  std::size_t still_expire() {
    TickingClock earlier;
    const auto later = store.session(0, earlier.wall());
    return static_cast<std::size_t>(std::count_if(keys.begin(), keys.end(), [&](auto key) {
      const auto info = later->info(key);
      return info.ok() && info->expires_at_ms == kExpiry;
    }));
  }

  TickingClock clock;
  const Keys keys = {"a", "bb", "ccc", "dddd"};
  ClockedStore store;
  std::unique_ptr<ClockedSession> session;
};

constexpr std::uint64_t kMaxLooks = 12;  // at clocks, of one operation

bool all_or_none(const Keys& keys, std::size_t there) { return there == 0 || there == keys.size(); }

}  // namespace

TEST_CASE("clocks: keys with one expiry are all there or all past in one operation") {
  for (const std::uint32_t ranks : {1u, 3u}) {
    for (std::uint64_t before = 0; before <= kMaxLooks; ++before) {
      CAPTURE(ranks, before);
      {
        SharedExpiry world(ranks);
        world.start(before);
        std::size_t there = 0;
        REQUIRE(world.session
                    ->read_all(world.keys,
                               [&](std::size_t, const auto* element) {
                                 there += element != nullptr ? 1 : 0;
                               })
                    .ok());
        CHECK(all_or_none(world.keys, there));
      }
      {
        SharedExpiry world(ranks);
        world.start(before);
        std::vector<std::optional<std::string>> out;
        REQUIRE(world.session->get_all(world.keys, out).ok());
        CHECK(all_or_none(world.keys, static_cast<std::size_t>(std::count_if(
                                          out.begin(), out.end(), [](auto& v) { return !!v; }))));
      }
      {
        SharedExpiry world(ranks);
        world.start(before);
        const auto look = [&](std::span<store::ElementDraft> drafts) {
          const auto there = static_cast<std::size_t>(std::count_if(
              drafts.begin(), drafts.end(), [](auto& draft) { return draft.there(); }));
          CHECK(all_or_none(world.keys, there));
          // The body's own time is that by which the keys were judged.
          CHECK((world.session->now_ms("a") < kExpiry) == (there > 0));
          return true;
        };
        REQUIRE(world.session->modify_all(world.keys, look, {}).ok());
      }
    }
  }
}

TEST_CASE("clocks: keys that expire together stay together while a sweep removes them") {
  // The sweep's clock is late; a reader's is from before the expiry, as after a host was set back.
  ClockedStore store({.ranks = 1, .machine = shaken_machine(1, 0)});
  TickingClock early;
  TickingClock late{.now = kExpiry + 1000};
  const auto reader = store.session(0, early.wall());
  const auto sweeper = store.session(0, late.wall());
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back(fmt::format("key {}", i));
  for (const std::string& name : names) {
    REQUIRE(reader->put(name, kValue, {.expires_at_ms = kExpiry}).ok());
  }
  const auto part = sweeper->sweep_part(0, 0, 1);  // one of four stripes
  REQUIRE(part.ok());
  REQUIRE(part->removed > 0);
  REQUIRE(part->removed < names.size());
  std::vector<std::optional<std::string>> out;
  REQUIRE(reader->get_all(Keys(names.begin(), names.end()), out).ok());
  CHECK(std::none_of(out.begin(), out.end(), [](const auto& value) { return value.has_value(); }));
}

TEST_CASE("clocks: a key that one owner's clock found past is past for its own owner") {
  ClockedStore store({.ranks = 2, .machine = shaken_machine(1, 0)});
  TickingClock ahead{.now = kExpiry + 3000};
  TickingClock behind{.now = kExpiry - 3000};
  const auto first = store.session(0, ahead.wall());
  const auto second = store.session(1, behind.wall());
  std::vector<std::string> names(2);  // a key of each rank
  for (int i = 0; names[0].empty() || names[1].empty(); ++i) {
    const std::string name = fmt::format("key {}", i);
    names[first->stripe_of(name).rank] = name;
  }
  REQUIRE(first->put(names[0], kValue, {.expires_at_ms = kExpiry + 100'000}).ok());
  REQUIRE(second->put(names[1], kValue, {.expires_at_ms = kExpiry}).ok());
  std::string value;
  REQUIRE(second->get(names[1], value).ok());
  // The later clock of the two counts, and its verdict outlives the operation.
  std::vector<std::optional<std::string>> out;
  REQUIRE(first->get_all(Keys{names[0], names[1]}, out).ok());
  CHECK(out[0].has_value());
  CHECK(!out[1].has_value());
  CHECK(second->get(names[1], value) == Code::kNotFound);
  CHECK(second->now_ms(names[1]) >= kExpiry);
}

TEST_CASE("clocks: of several owners the latest counts, whichever it is") {
  for (const std::uint32_t late : {0u, 1u}) {
    CAPTURE(late);
    ClockedStore store({.ranks = 2, .machine = shaken_machine(1, 0)});
    std::array<TickingClock, 2> clocks;
    const std::array sessions = {store.session(0, clocks[0].wall()),
                                 store.session(1, clocks[1].wall())};
    std::array<std::string, 2> names;  // a key of each rank
    for (int i = 0; names[0].empty() || names[1].empty(); ++i) {
      const std::string name = fmt::format("key {}", i);
      names[sessions[0]->stripe_of(name).rank] = name;
    }
    for (const std::string& name : names) {
      REQUIRE(sessions[late]->put(name, kValue, {.expires_at_ms = kExpiry}).ok());
    }
    clocks[late].now = kExpiry + 3000;
    clocks[1 - late].now = kExpiry - 3000;
    std::string value;
    REQUIRE(sessions[late]->get(names[late], value) == Code::kNotFound);
    for (const auto& session : sessions) {
      std::vector<std::optional<std::string>> out;
      REQUIRE(session->get_all(Keys{names[0], names[1]}, out).ok());
      CHECK(!out[0].has_value());
      CHECK(!out[1].has_value());
    }
  }
}

TEST_CASE("clocks: a session that comes later begins at the latest time that was told") {
  SharedExpiry world(1);
  world.clock.now = kExpiry;
  std::string value;
  REQUIRE(world.session->get("a", value) == Code::kNotFound);
  TickingClock earlier;
  const auto later = world.store.session(0, earlier.wall());
  CHECK(later->now_ms("a") >= kExpiry);
  CHECK(later->get("bb", value) == Code::kNotFound);
}

TEST_CASE("clocks: spans count from the owner's clock, however far the reader's is off") {
  for (const std::int64_t off : {-50'000, 50'000}) {
    CAPTURE(off);
    ClockedStore store({.ranks = 2, .machine = shaken_machine(1, 0)});
    TickingClock owners{.now = kExpiry};
    TickingClock readers{.now = kExpiry + static_cast<std::uint64_t>(off)};
    const auto owner = store.session(0, owners.wall());
    const auto reader = store.session(1, readers.wall());
    std::string name = "key";
    while (owner->stripe_of(name).rank != 0) name += "+";
    CHECK(owner->now_ms(name) == kExpiry);
    const std::uint64_t seen = reader->now_ms(name);
    CHECK(seen >= kExpiry);
    CHECK(seen <= kExpiry + store::kClockGapMs);
    // Neither is the key past before its owner's time, nor there long after.
    REQUIRE(reader->put(name, kValue, {.expires_at_ms = seen + 1000}).ok());
    std::string value;
    CHECK(reader->get(name, value).ok());
    owners.now = seen + 1000;
    CHECK(owner->now_ms(name) == owners.now);
    CHECK(reader->get(name, value) == Code::kNotFound);
  }
}

TEST_CASE("clocks: put_all decides and writes by one time") {
  for (const std::uint32_t ranks : {1u, 3u}) {
    for (std::uint64_t before = 0; before <= kMaxLooks; ++before) {
      CAPTURE(ranks, before);
      SharedExpiry world(ranks);
      world.start(before);
      std::vector<std::pair<std::string_view, std::string_view>> pairs;
      for (const std::string_view key : world.keys) pairs.push_back({key, kValue});
      const Status status =
          world.session->put_all(pairs, {.when = store::PutIf::kPresent, .keep_expiry = true});
      // It found all of them, and then all have kept their expiry; or it found them past.
      if (status.ok()) {
        CHECK(world.still_expire() == world.keys.size());
      } else {
        CHECK(status == Code::kNotFound);
      }
    }
  }
}

TEST_CASE("clocks: an expiry that passes while put_all plans in a full heap fails no job") {
  // The key's block is of a class that its new element would leave without the expiry's 8 bytes.
  std::uint64_t bytes = 40;
  constexpr store::ElementFormat kFormat;
  while (store::class_for(kFormat.bytes_of(1, bytes, true)) ==
         store::class_for(kFormat.bytes_of(1, bytes, false))) {
    ++bytes;
  }
  const std::string value(bytes, 'v');
  const std::vector<std::pair<std::string_view, std::string_view>> pairs = {{"k", value}};
  for (const bool keeps : {true, false}) {
    for (std::uint64_t before = 0; before <= kMaxLooks; ++before) {
      CAPTURE(keeps, before);
      TickingClock clock;
      ClockedStore store({.ranks = 1, .machine = shaken_machine(1, 0)});
      const auto session = store.session(0, clock.wall());
      REQUIRE(session->put("k", value, {.expires_at_ms = kExpiry}).ok());
      int filled = 0;
      for (const std::uint64_t fill : {60'000, 8000, 1000, 200, 60, 17}) {
        while (session->put(fmt::format("fill {}", filled), std::string(fill, 'f'), {}).ok()) {
          ++filled;
        }
      }
      clock.now = kExpiry - before;
      clock.step = 1;
      const Status status = session->put_all(
          pairs, {.expires_at_ms = keeps ? store::kNoExpiry : kExpiry, .keep_expiry = true});
      if (!status.ok()) CHECK(status == Code::kOutOfSpace);
    }
  }
}

namespace {

constexpr std::uint32_t kRanks = 4;
constexpr std::size_t kKeys = 24;
constexpr std::uint64_t kStartMs = 10'000'000;

/// A millisecond of these clocks is a microsecond of virtual time. Each clock differs by seconds
/// from the others, and some are set back during the run.
std::uint64_t wrong_clock(std::uint32_t rank, std::uint64_t virtual_ns) {
  constexpr std::array<std::int64_t, kRanks> kOff = {0, 5000, -3000, 1500};
  const auto passed = static_cast<std::int64_t>(virtual_ns / 1000);
  const std::int64_t back = rank % 2 == 1 ? passed / 1500 * 1200 : 0;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(kStartMs) + kOff[rank] + passed -
                                    back);
}

/// The answers to sessions so far.
struct Observed {
  std::array<bool, kKeys> past{};
  std::array<std::uint64_t, kKeys> least_left;
  std::uint64_t gone = 0;
  std::uint64_t there = 0;

  Observed() { least_left.fill(~0ULL); }
};

class Watcher {
 public:
  Watcher(ClockedSession& session, Observed& observed, SimBarrier& barrier, std::uint64_t seed)
      : session_(session), observed_(observed), barrier_(barrier), rng_(seed) {
    for (std::size_t i = 0; i < kKeys; ++i) names_.push_back(fmt::format("key {}", i));
  }
  const std::string& name(std::size_t i) const { return names_[i]; }

  void look() {
    const std::size_t i = rng_.below(kKeys);
    switch (rng_.below(3)) {
      case 0: return look_at(i);
      case 1: return look_at_time_left(i);
      default: return look_at_two(i, (i + 1 + rng_.below(kKeys - 1)) % kKeys);
    }
  }

 private:
  void see(std::size_t i, bool there, bool was_past) {
    if (there && was_past) barrier_.fail(fmt::format("{} has come back", names_[i]));
    if (!there) observed_.past[i] = true;
    ++(there ? observed_.there : observed_.gone);
  }
  void look_at(std::size_t i) {
    const bool was_past = observed_.past[i];
    std::string value;
    see(i, session_.get(names_[i], value).ok(), was_past);
  }
  void look_at_time_left(std::size_t i) {
    const bool was_past = observed_.past[i];
    const std::uint64_t least = observed_.least_left[i];
    const auto info = session_.info(names_[i]);
    see(i, info.ok(), was_past);
    if (!info.ok()) return;
    const std::uint64_t left = info->expires_at_ms - info->now_ms;
    if (left > least)
      barrier_.fail(fmt::format("{} has {} ms left after {}", names_[i], left, least));
    observed_.least_left[i] = std::min(observed_.least_left[i], left);
  }
  void look_at_two(std::size_t i, std::size_t j) {
    const std::array<bool, 2> was_past = {observed_.past[i], observed_.past[j]};
    std::vector<std::optional<std::string>> out;
    const Keys keys = {names_[i], names_[j]};
    if (!session_.get_all(keys, out).ok()) return barrier_.fail("get_all");
    see(i, out[0].has_value(), was_past[0]);
    see(j, out[1].has_value(), was_past[1]);
  }

  ClockedSession& session_;
  Observed& observed_;
  SimBarrier& barrier_;
  Rng rng_;
  std::vector<std::string> names_;
};

}  // namespace

TEST_CASE("clocks: what one rank found past is past for all, whatever their clocks say") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    ClockedStore store({.ranks = kRanks, .machine = shaken_machine(2, 2000), .seed = seed});
    const SimTeam team(store.fabric());
    auto barrier = team.barrier();
    Observed observed;
    team.run([&](std::uint32_t me) {
      std::unique_ptr<ClockedSession> session;
      session = store.session(me, [me, &store] {
        return wrong_clock(me, static_cast<std::uint64_t>(store.fabric().time_ns()));
      });
      Watcher watcher(*session, observed, barrier, seed * 100 + me);
      for (std::size_t i = 0; me == 0 && i < kKeys; ++i) {
        const std::uint64_t at = kStartMs + 200 + i * 300;
        if (!session->put(watcher.name(i), kValue, {.expires_at_ms = at}).ok()) barrier.fail("put");
      }
      barrier.arrive_and_wait(me);
      for (int i = 0; i < 400 && !barrier.failed(); ++i) watcher.look();
    });
    CHECK(barrier.failure() == "");
    CHECK(observed.gone > 100);
    CHECK(observed.there > 100);
  }
}
