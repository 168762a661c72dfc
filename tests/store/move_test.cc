// Elements that are moved to make room: on the fabric with late posted operations, with a mover on
// the elements' rank or on another one, and while other agents read, write and erase.
#include <catch2/catch.hpp>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "accounting.h"
#include "keyway/locks/base/rng.h"
#include "team.h"
#include "tests/conformance/deferred_fabric.h"
#include "tests/store/deferred_session.h"
#include "volumes.h"

using namespace keyway;
using namespace keyway::test;

namespace {

constexpr std::uint32_t kRanks = 2;
constexpr std::uint32_t kFull = 1;  // the rank with the full heap
using Kept = std::map<std::string, std::string>;

struct Fixture {
  explicit Fixture(std::uint64_t seed, std::uint64_t buckets = 32)  // so few that lines overflow
      : geometry(*store::Geometry::plan({.memory_bytes = 1 << 20,
                                         .buckets = buckets,
                                         .stripes = 8,
                                         .agents_per_rank = 4,
                                         .nodes_per_agent = 32,
                                         .ranks = kRanks})),
        lock(*locks::AnyLock::make("gbh:lockall=off")),
        fabric(deferred_fabric(geometry, kRanks, /*agents_per_rank=*/4, seed)) {}
  std::unique_ptr<LazySession> session(std::uint32_t rank) {
    return std::make_unique<LazySession>(
        std::move(*fabric.endpoint(rank)), geometry, lock,
        store::SessionOptions{.timeout = std::chrono::seconds(60)});
  }

  store::Geometry geometry;
  locks::StripeLock lock;
  conformance::DeferredFabric fabric;
};

/// Keys of the full rank.
class Keys {
 public:
  Keys(const LazySession& session, std::string prefix)
      : session_(session), prefix_(std::move(prefix)) {}
  std::string next() {
    while (true) {
      std::string key = named(prefix_, number_++);
      if (session_.owner_of(key) == kFull) return key;
    }
  }

 private:
  const LazySession& session_;
  std::string prefix_;
  std::uint64_t number_ = 0;
};

/// Puts elements of one size until the heap is full.
void fill(LazySession& session, Kept& kept, std::size_t bytes, const std::string& prefix) {
  Keys keys(session, prefix);
  for (std::uint64_t i = 0;; ++i) {
    const std::string key = keys.next();
    const std::string value = pattern(bytes, i);
    const Status status = session.put(key, value, {});
    if (status == Code::kOutOfSpace) return;
    REQUIRE(status.ok());
    kept[key] = value;
  }
}
/// Erases the elements with a number for which `goes` is true.
template <class Goes>
void erase_some(LazySession& session, Kept& kept, Goes goes) {
  std::uint64_t number = 0;
  std::erase_if(kept, [&](const auto& each) {
    if (!goes(number++)) return false;
    REQUIRE(session.erase(each.first).ok());
    return true;
  });
}
/// A heap that is full of holes: one element in twelve is left.
Kept leave_holes(LazySession& session) {
  Kept kept;
  fill(session, kept, 700, "small ");
  erase_some(session, kept, [](std::uint64_t number) { return number % 12 != 0; });
  return kept;
}
/// The first element that is wrong.
std::string wrong_of(LazySession& session, const Kept& kept) {
  std::string value;
  for (const auto& [key, expected] : kept) {
    if (!session.get(key, value).ok() || value != expected) return key;
  }
  return {};
}

/// Puts and erases its own keys, and reads those that do not change.
std::string work(LazySession& session, std::uint32_t me, std::uint64_t seed, const Kept& still) {
  constexpr std::size_t kSizes[] = {20, 700, 5000, 9000, 40'000};
  Rng rng(seed * 100 + me);
  Kept mine;
  Keys keys(session, named("agent ", me) + " ");
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back(keys.next());
  std::string value;
  for (std::uint32_t i = 0; i < scaled(150); ++i) {
    const std::string& key = names[rng.below(names.size())];
    switch (rng.below(4)) {
      case 0:
        if (session.erase(key).ok() != (mine.erase(key) == 1)) return "erase of " + key;
        break;
      case 1: {
        const auto at =
            std::next(still.begin(), static_cast<std::ptrdiff_t>(rng.below(still.size())));
        if (!session.get(at->first, value).ok() || value != at->second) return at->first;
        break;
      }
      default: {
        const std::string fresh = pattern(kSizes[rng.below(std::size(kSizes))], rng.below(1000));
        const Status status = session.put(key, fresh, {});
        if (status.ok()) mine[key] = fresh;
        if (!status.ok() && status != Code::kOutOfSpace) return std::string(status.message());
      }
    }
  }
  return wrong_of(session, mine);
}

}  // namespace

TEST_CASE("move: a writer of whatever rank moves elements, and none changes") {
  for (const std::uint32_t home : {0u, kFull}) {
    CAPTURE(home);
    Fixture fixture(home + 1);
    const auto session = fixture.session(home);
    Kept kept = leave_holes(*session);
    REQUIRE(kept.size() > 30);
    const std::uint64_t before = session->moved();
    fill(*session, kept, 5000, "large ");
    CHECK(session->moved() > before);
    CHECK(wrong_of(*session, kept) == "");
    CHECK(wrong_of(*fixture.session(1 - home), kept) == "");
    check_volumes(*session, kRanks);
    const auto report = *session->report(kFull);
    CHECK(report.overflow_buckets > 0);
    CHECK(report.live_bytes * 10 >= report.heap.heap_bytes * 8);
  }
}

TEST_CASE("move: a put that fits finds room without a move") {
  Fixture fixture(1);
  const auto session = fixture.session(0);
  Keys keys(*session, "key ");
  for (int i = 0; i < 50; ++i) REQUIRE(session->put(keys.next(), pattern(700, 1), {}).ok());
  CHECK(session->moved() == 0);
}

TEST_CASE("move: a write of two blocks finds room where only one of them has room") {
  Fixture fixture(1, /*buckets=*/2048);  // no line overflows
  const auto session = fixture.session(kFull);
  Kept kept;
  fill(*session, kept, 700, "small ");
  erase_some(*session, kept, [](std::uint64_t number) { return number % 3 == 0; });
  REQUIRE(session->usage(kFull).heap.free_chunks == 0);
  for (auto at = kept.begin(); session->usage(kFull).heap.free_chunks == 0; at = kept.erase(at)) {
    REQUIRE(at != kept.end());
    REQUIRE(session->erase(at->first).ok());
  }
  // One chunk for the element and for an overflow line, which are of two classes.
  REQUIRE(session->usage(kFull).heap.free_chunks == 1);
  REQUIRE(session->report(kFull)->overflow_buckets == 0);
  REQUIRE(session->moved() == 0);
  const std::string key = Keys(*session, "new ").next();
  const std::string value = pattern(1000, 1);
  const auto write = [&](std::span<store::ElementDraft> drafts) {
    drafts[0].write(value, store::kNoExpiry);
    return true;
  };
  REQUIRE(session->modify_all(std::vector<std::string_view>{key}, write, {}).ok());
  kept[key] = value;
  CHECK(session->moved() > 0);
  CHECK(wrong_of(*session, kept) == "");
  check_volumes(*session, kRanks);
}

TEST_CASE("move: several runs in one operation find room together") {
  Fixture fixture(3, /*buckets=*/2048);
  const auto session = fixture.session(kFull);
  Kept kept = leave_holes(*session);
  Keys keys(*session, "run ");
  std::vector<std::pair<std::string, std::string>> news;
  for (const std::size_t bytes : {60'000, 60'000, 40'000}) {
    news.emplace_back(keys.next(), pattern(bytes, bytes));
  }
  const std::vector<std::pair<std::string_view, std::string_view>> pairs(news.begin(), news.end());
  REQUIRE(session->put_all(pairs, {}).ok());
  kept.insert(news.begin(), news.end());
  CHECK(session->moved() > 0);
  CHECK(wrong_of(*session, kept) == "");
  check_volumes(*session, kRanks);
}

TEST_CASE("move: several runs find room apart where live runs leave no wide place") {
  Fixture fixture(5, /*buckets=*/8);
  const auto session = fixture.session(kFull);
  constexpr std::size_t kRun = 20'000;  // two chunks
  Kept kept;
  Keys tiny(*session, "tiny ");  // enough that lines overflow: there are blocks for some more
  for (int i = 0; i < 100; ++i) {
    const std::string key = tiny.next();
    REQUIRE(session->put(key, kept[key] = pattern(100, 1), {}).ok());
  }
  Keys keys(*session, "run ");
  std::vector<std::string> runs;
  while (true) {
    runs.push_back(keys.next());
    const std::string value = pattern(kRun, runs.size());
    if (!session->put(runs.back(), value, {}).ok()) break;
    kept[runs.back()] = value;
  }
  REQUIRE(runs.size() > 20);
  const auto leave = [&](std::size_t run) {
    REQUIRE(session->erase(runs[run]).ok());
    kept.erase(runs[run]);
  };
  // Two places with a few small elements each, and two that are free.
  leave(4);
  leave(8);
  Kept small;
  fill(*session, small, 700, "small ");
  erase_some(*session, small, [](std::uint64_t number) { return number % 12 != 0; });
  kept.merge(small);
  leave(12);
  leave(16);
  const std::uint64_t before = session->moved();
  std::vector<std::pair<std::string, std::string>> news;
  for (std::size_t i = 0; i < 3; ++i) news.emplace_back(keys.next(), pattern(kRun, 100 + i));
  const std::vector<std::pair<std::string_view, std::string_view>> pairs(news.begin(), news.end());
  REQUIRE(session->put_all(pairs, {}).ok());
  kept.insert(news.begin(), news.end());
  CHECK(session->moved() > before);
  CHECK(wrong_of(*session, kept) == "");
  check_volumes(*session, kRanks);
}

TEST_CASE("move: others read, write and erase meanwhile") {
  for (std::uint64_t seed = 1; seed <= scaled(5); ++seed) {
    CAPTURE(seed);
    Fixture fixture(seed);
    const Kept still = leave_holes(*fixture.session(0));
    constexpr Team kTeam{.threads = 1, .fibers = 5};
    Barrier barrier = kTeam.barrier();
    std::uint64_t moved = 0;  // the fibers share a thread
    kTeam.run([&](std::uint32_t me) {
      const auto session = fixture.session(me % kRanks);
      const std::string wrong = work(*session, me, seed, still);
      if (!wrong.empty()) barrier.fail(wrong);
      moved += session->moved();
    });
    CHECK(barrier.failure() == "");
    CHECK(moved > 0);
    const auto walker = fixture.session(0);
    CHECK(wrong_of(*walker, still) == "");
    check_volumes(*walker, kRanks);
  }
}
