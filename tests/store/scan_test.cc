// Scans: every element once at rest; under changes, every element that is there throughout.
#include <algorithm>
#include <map>
#include <set>

#include "accounting.h"
#include "keyway/locks/base/rng.h"
#include "team.h"

using namespace keyway;
using namespace keyway::test;

namespace {

/// The whole store in steps of `limit`: each element as often as it was shown.
std::multiset<std::string> scan_all(Session& s, std::uint64_t limit) {
  std::multiset<std::string> shown;
  std::uint64_t cursor = 0;
  do {
    const auto next = s.scan(cursor, limit, [&](auto key, auto) { shown.emplace(key); });
    if (!next.ok()) return {};
    cursor = *next;
  } while (cursor != 0);
  return shown;
}

}  // namespace

TEST_CASE("scan: shows every element once, with its value, in steps of any size") {
  for (const char* uri : {"local:?memory=4MiB&sessions=1", "local:?memory=4MiB&sessions=1&ranks=3",
                          "local:?memory=4MiB&sessions=1&buckets=1",
                          "local:?memory=4MiB&sessions=1&buckets=3&ranks=2",
                          "local:?memory=4MiB&sessions=1&stripes=1"}) {
    Store store = open_local(uri);
    Session s = session_of(store);
    CAPTURE(uri);
    CHECK(*s.scan(0, 10, [](auto, auto) {}) == 0);  // an empty store
    std::multiset<std::string> all;
    for (int i = 0; i < 200; ++i) {
      all.insert(named("key ", i));
      REQUIRE(s.put(named("key ", i), pattern(i, i)).ok());
    }
    for (const std::uint64_t limit : {0, 1, 2, 7, 100, 1000}) {
      CAPTURE(limit);
      CHECK(scan_all(s, limit) == all);
    }
    bool values_right = true;
    REQUIRE(s.scan(0, 1000, [&](std::string_view key, std::string_view value) {
               const int i = std::stoi(std::string(key.substr(4)));
               values_right = values_right && value == pattern(i, i);
             }).ok());
    CHECK(values_right);
  }
}

TEST_CASE("scan: of one rank, exactly what it owns, in steps of any size") {
  Store store = open_local("local:?memory=4MiB&sessions=1&ranks=3");
  Session s = session_of(store);
  std::vector<std::multiset<std::string>> owned(3);
  for (int i = 0; i < 200; ++i) {
    const std::string key = named("key ", i);
    owned[store.owner_of(key)].insert(key);
    REQUIRE(s.put(key, "v").ok());
  }
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    for (const std::uint64_t limit : {0, 1, 7, 1000}) {
      std::multiset<std::string> shown;
      std::uint64_t cursor = 0;
      do {
        const auto next =
            s.scan_rank(rank, cursor, limit, [&](auto key, auto) { shown.emplace(key); });
        REQUIRE(next.ok());
        cursor = *next;
      } while (cursor != 0);
      CHECK(shown == owned[rank]);
    }
  }
  const auto nothing = [](auto, auto) {};
  CHECK(s.scan_rank(3, 0, 1, nothing).code() == Code::kInvalidArgument);
  const std::uint64_t of_rank_1 = *s.scan_rank(1, 0, 1, nothing);
  CHECK(s.scan_rank(0, of_rank_1, 1, nothing).code() == Code::kInvalidArgument);
  CHECK(s.scan_rank(2, of_rank_1, 1, nothing).code() == Code::kInvalidArgument);
}

TEST_CASE("scan: a step shows at least its limit, unless the end comes first") {
  Store store = open_local("local:?memory=4MiB&sessions=1&ranks=2");
  Session s = session_of(store);
  for (int i = 0; i < 100; ++i) REQUIRE(s.put(named("key ", i), "v").ok());
  for (std::uint64_t cursor = 0;;) {
    std::uint64_t shown = 0;
    const auto next = s.scan(cursor, 5, [&](auto, auto) { ++shown; });
    REQUIRE(next.ok());
    if (*next == 0) break;
    CHECK(shown >= 5);
    cursor = *next;
  }
}

TEST_CASE("scan: a cursor that no scan returned is refused") {
  Store store = open_local("local:?memory=4MiB&sessions=1&ranks=2&buckets=10");
  Session s = session_of(store);
  const auto rank_of = [](std::uint64_t rank) { return rank << 48; };
  // A cursor is a bucket and, in its lowest 14 bits, a tag.
  const std::uint64_t end = 10 << 14;
  for (const std::uint64_t bad :
       {end, end + 1, std::uint64_t{1} << 40, rank_of(1) + end, rank_of(2), ~std::uint64_t{0}}) {
    CAPTURE(bad);
    CHECK(s.scan(bad, 1, [](auto, auto) {}).code() == Code::kInvalidArgument);
  }
  CHECK(s.scan(rank_of(1) + end - 1, 1, [](auto, auto) {}).ok());
}

namespace {

// One bucket, under a secret with which some of its keys have the same tag.
constexpr const char* kOneChain =
    "local:?memory=16MiB&sessions=5&buckets=1&hash_secret=00000000000000000000000000000001";
// More than this of kOneChain's keys never have one tag.
constexpr std::uint64_t kMaxAlike = 8;

}  // namespace

TEST_CASE("scan: a step stops within a chain of thousands") {  // S3
  Store store = open_local(kOneChain);
  Session s = session_of(store);
  std::multiset<std::string> all;
  for (int i = 0; i < 5000; ++i) {
    all.insert(named("key ", i));
    REQUIRE(s.put(named("key ", i), pattern(i % 40, i)).ok());
  }
  for (const std::uint64_t limit : {1u, 10u, 333u}) {
    CAPTURE(limit);
    std::multiset<std::string> seen;
    std::uint64_t most = 0;
    std::uint64_t cursor = 0;
    do {
      std::uint64_t shown = 0;
      const auto next = s.scan(cursor, limit, [&](auto key, auto) {
        seen.emplace(key);
        ++shown;
      });
      REQUIRE(next.ok());
      cursor = *next;
      most = std::max(most, shown);
      if (cursor != 0) REQUIRE(shown >= limit);
    } while (cursor != 0);
    CHECK(most < limit + kMaxAlike);
    CHECK(seen == all);  // S2
  }
}

TEST_CASE("scan_from: goes on from each key of a chain of thousands") {
  Store store = open_local(kOneChain);
  Session s = session_of(store);
  for (int i = 0; i < 3000; ++i) REQUIRE(s.put(named("key ", i), "v").ok());
  std::vector<std::string> order;
  REQUIRE(s.scan(0, 10'000, [&](auto key, auto) { order.emplace_back(key); }).ok());
  REQUIRE(order.size() == 3000);
  for (std::size_t at = 0; at < order.size(); at += 7) {
    std::vector<std::string> shown;
    REQUIRE(s.scan_from(order[at], 10, [&](auto key, auto) { shown.emplace_back(key); }).ok());
    const auto begin = order.begin() + static_cast<long>(at);
    const auto end = begin + std::min<long>(10, order.end() - begin);
    REQUIRE(shown == std::vector<std::string>(begin, end));
  }
}

TEST_CASE("scan: in a chain of thousands, each key that stays is shown once") {  // S1, S2
  Store store = open_local(fmt::format("{}&lock=auto&lock_costs=nominal", kOneChain));
  std::multiset<std::string> always;
  {
    Session s = session_of(store);
    for (int i = 0; i < 1500; ++i) {
      always.insert(named("always ", i));
      REQUIRE(s.put(named("always ", i), "v").ok());
      REQUIRE(s.put(named("passing ", i), "v").ok());
    }
  }
  // relaxed: nothing is published with it; the threads end before anything else is looked at.
  std::atomic<bool> done{false};
  const auto scan = [&](Session& s, Rng& rng, Barrier& barrier) {
    for (std::uint32_t round = 0; round < scaled(20) && !barrier.failed(); ++round) {
      auto shown = scan_all(s, 10 + rng.below(100));
      std::erase_if(shown, [](const std::string& key) { return !key.starts_with("always"); });
      if (shown != always) barrier.fail("a scan missed a key that stays, or showed it twice");
    }
    done.store(true, std::memory_order_relaxed);
  };
  // Entries grow, shrink and move to other lines; lines come and go; the stripe's lock changes.
  const auto stir = [&](Session& s, Rng& rng) -> Status {
    const std::string n = std::to_string(rng.below(1500));
    switch (rng.below(7)) {
      case 0:
      case 1: return s.put("passing " + n, pattern(rng.below(60), 1));
      case 2:
      case 3: return s.erase("passing " + n);
      case 4: {
        const auto kinds = s.inspector().lock_kinds(0);
        return s.inspector().switch_lock(0, 0, kinds[rng.below(kinds.size())].kind);
      }
      default: return s.put("always " + n, pattern(rng.below(60), 1));
    }
  };
  Barrier barrier(4);
  Team{.threads = 4}.run([&](std::uint32_t me) {
    Session s = std::move(*store.session());
    Rng rng(me);
    barrier.arrive_and_wait();
    if (me == 0) return scan(s, rng, barrier);
    while (!done.load(std::memory_order_relaxed) && !barrier.failed()) {
      const Status status = stir(s, rng);
      if (!status.ok() && status.code() != Code::kNotFound)
        barrier.fail(std::string(status.message()));
    }
  });
  CHECK(barrier.failure() == "");
  Session walker = session_of(store);
  check_heap(store, walker);
}

TEST_CASE("scan: its sink may use the session") {
  Store store = open_local("local:?memory=4MiB&sessions=1");
  Session s = session_of(store);
  for (int i = 0; i < 50; ++i) REQUIRE(s.put(named("key ", i), pattern(i, i)).ok());
  int erased = 0;
  REQUIRE(s.scan(0, 1000, [&](std::string_view key, std::string_view value) {
             CHECK(*s.get(key) == value);
             CHECK(*s.scan(0, 3, [](auto, auto) {}) != 0);
             if (++erased <= 25) CHECK(s.erase(key).ok());
           }).ok());
  CHECK(*s.size() == 25);
  check_heap(store, s);
}

TEST_CASE("scan_from: goes on in hash order from a key, which need not be there any more") {
  for (const char* uri :
       {"local:?memory=4MiB&sessions=1", "local:?memory=4MiB&sessions=1&ranks=3&buckets=5"}) {
    Store store = open_local(uri);
    Session s = session_of(store);
    CAPTURE(uri);
    for (int i = 0; i < 100; ++i) REQUIRE(s.put(named("key ", i), "v").ok());
    std::vector<std::string> order;
    REQUIRE(s.scan(0, 1000, [&](auto key, auto) { order.emplace_back(key); }).ok());
    REQUIRE(order.size() == 100);
    for (const std::size_t at : {0u, 1u, 50u, 98u, 99u}) {
      for (const std::uint64_t limit : {0u, 1u, 10u, 1000u}) {
        CAPTURE(at, limit);
        std::vector<std::string> shown;
        const auto n =
            s.scan_from(order[at], limit, [&](auto key, auto) { shown.emplace_back(key); });
        REQUIRE(n.ok());
        CHECK(*n == shown.size());
        const std::size_t end = std::min<std::size_t>(order.size(), at + limit);
        CHECK(shown == std::vector<std::string>(order.begin() + static_cast<long>(at),
                                                order.begin() + static_cast<long>(end)));
      }
    }
    // Gone: from its bucket on, so that nothing that followed it is missed.
    REQUIRE(s.erase(order[50]).ok());
    std::set<std::string> shown;
    REQUIRE(s.scan_from(order[50], 1000, [&](auto key, auto) { shown.emplace(key); }).ok());
    for (std::size_t i = 51; i < 100; ++i) CHECK(shown.contains(order[i]));
  }
}

TEST_CASE("scan: what is there throughout is shown once, while all else comes, goes and grows") {
  Store store = open_local("local:?memory=8MiB&sessions=4&ranks=2&buckets=20&stripes=5");
  std::multiset<std::string> always;
  {
    Session s = session_of(store);
    for (int i = 0; i < 150; ++i) {
      always.insert(named("always ", i));
      REQUIRE(s.put(named("always ", i), "v").ok());
    }
  }
  Barrier barrier(4);
  std::atomic<bool> done{false};
  Team{.threads = 4}.run([&](std::uint32_t me) {
    Session s = std::move(*store.session());
    Rng rng(me);
    barrier.arrive_and_wait();
    if (me < 2) {
      for (std::uint32_t round = 0; round < scaled(200); ++round) {
        auto shown = scan_all(s, 1 + rng.below(20));
        std::erase_if(shown, [](const std::string& key) { return !key.starts_with("always"); });
        if (shown != always) barrier.fail("a scan missed, or showed twice, what was always there");
      }
      done.store(true, std::memory_order_relaxed);  // publishes nothing
    }
    while (!done.load(std::memory_order_relaxed) && !barrier.failed()) {
      const std::string n = std::to_string(rng.below(150));
      Status status;
      switch (rng.below(3)) {
        case 0: status = s.put("passing " + n, pattern(rng.below(200), 1)); break;
        case 1: status = s.erase("passing " + n); break;
        default: status = s.put("always " + n, pattern(rng.below(200), 1)); break;
      }
      if (!status.ok() && status.code() != Code::kNotFound)
        barrier.fail(std::string(status.message()));
    }
  });
  CHECK(barrier.failure() == "");
  Session walker = session_of(store);
  check_heap(store, walker);
}
