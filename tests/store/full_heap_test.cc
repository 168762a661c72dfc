// A full heap: a clear error, nothing lost, and space that comes back for elements of any size.
#include <map>

#include "accounting.h"
#include "keyway/kvstore/layout/key_hash.h"
#include "team.h"

using namespace keyway;
using namespace keyway::test;

namespace {

using Kept = std::map<std::string, std::string>;

/// Puts elements of one size until the heap is full.
void fill(Session& s, Kept& kept, std::size_t bytes, const std::string& prefix) {
  for (int i = 0;; ++i) {
    const std::string key = named(prefix, i);
    const std::string value = pattern(bytes, i);
    const Status status = s.put(key, value);
    if (!status.ok()) {
      REQUIRE(status == Code::kOutOfSpace);
      REQUIRE(status.message().find("erase elements or give the store more memory") !=
              std::string_view::npos);
      return;
    }
    kept[key] = value;
  }
}
/// Erases all but about one of `share`.
void thin_out(Session& s, Kept& kept, std::uint64_t share) {
  std::erase_if(kept, [&](const auto& each) {
    if (store::hash_key({}, each.first) % share == 0) return false;
    REQUIRE(s.erase(each.first).ok());
    return true;
  });
}
void check_all(Session& s, const Kept& kept) {
  std::string wrong;  // one check for all of them: a check costs more than a get
  std::string value;
  for (const auto& [key, expected] : kept) {
    if (!s.get(key, value).ok() || value != expected) wrong += key + " ";
  }
  REQUIRE(wrong == "");
  REQUIRE(*s.size() == kept.size());
}

}  // namespace

TEST_CASE("full heap: a clear error, and every element is as it was") {
  for (const std::size_t bytes : {40, 500, 3000, 16'000, 50'000}) {
    CAPTURE(bytes);
    Store store = open_local("local:?memory=2MiB&sessions=2&locks_per_session=8");
    Session s = session_of(store);
    Kept kept;
    fill(s, kept, bytes, "element ");
    REQUIRE(kept.size() > 10);
    check_all(s, kept);
    // Failures from here on change nothing.
    const auto [key, value] = *kept.begin();
    CHECK(s.put("one more", pattern(60'000, 1)) == Code::kOutOfSpace);
    CHECK(s.put(key, pattern(100'000, 1)) == Code::kOutOfSpace);
    CHECK(s.compare_and_set(key, value, pattern(100'000, 1)) == Code::kOutOfSpace);
    CHECK(s.append(key, pattern(100'000, 1)).code() == Code::kOutOfSpace);
    CHECK(s.set_range(key, 100'000, "x").code() == Code::kOutOfSpace);
    check_all(s, kept);
    check_heap(store, s);
    // Elements can still be read, changed in place, and erased.
    kept[key] = pattern(bytes, 999);
    CHECK(s.put(key, kept[key]).ok());
    check_all(s, kept);
    while (!kept.empty()) {
      REQUIRE(s.erase(kept.begin()->first).ok());
      kept.erase(kept.begin());
    }
    check_heap(store, s);
    CHECK(s.inspector().report(0)->live_bytes == 0);
  }
}

TEST_CASE("full heap: space comes back for elements of another size, larger or smaller") {
  Store store = open_local("local:?memory=2MiB&sessions=2&locks_per_session=8");
  Session s = session_of(store);
  std::map<std::size_t, std::size_t> first_time;
  for (std::uint32_t round = 0; round < 1 + scaled(10) / 5; ++round) {
    for (const std::size_t bytes : {100, 20'000, 1000, 64, 300'000, 8000}) {
      CAPTURE(round, bytes);
      Kept kept;
      fill(s, kept, bytes, "element ");
      check_all(s, kept);
      check_heap(store, s);
      if (round == 0) first_time[bytes] = kept.size();
      // As many as before, except for the positions of runs and overflow lines.
      CHECK(kept.size() + 2 + first_time[bytes] / 50 >= first_time[bytes]);
      for (const auto& [key, value] : kept) REQUIRE(s.erase(key).ok());
    }
  }
}

TEST_CASE("full heap: what was erased here and there can be put again") {
  Store store = open_local("local:?memory=4MiB&sessions=2");
  Session s = session_of(store);
  Kept kept;
  fill(s, kept, 120, "small ");
  Kept erased;
  for (const auto& [key, value] : kept) {
    if (store::hash_key({}, key) % 2 == 0) erased[key] = value;
  }
  for (const auto& [key, value] : erased) REQUIRE(s.erase(key).ok());
  check_heap(store, s);
  for (const auto& [key, value] : erased) REQUIRE(s.put(key, value).ok());
  check_all(s, kept);
  check_heap(store, s);
}

TEST_CASE("full heap: what one session frees another one gets") {
  Store store = open_local("local:?memory=4MiB&sessions=4");
  Session a = session_of(store);
  Session b = session_of(store);
  Kept kept;
  fill(a, kept, 1000, "element ");
  CHECK(b.put("b's", pattern(1000, 1)) == Code::kOutOfSpace);
  REQUIRE(a.clear().ok());
  Kept bs;
  fill(b, bs, 5000, "b's ");
  // The freer may keep a few chunks (H6).
  CHECK(bs.size() * 5000 > kept.size() * 1000 / 2);
  check_all(b, bs);
  Session* const open[] = {&a, &b};
  check_heap(store, a, open);
}

TEST_CASE("full heap: elements of other sizes are moved out of sparse chunks to make room") {
  Store store = open_local("local:?memory=8MiB&sessions=2");
  Session s = session_of(store);
  Kept kept;
  fill(s, kept, 120, "small ");
  thin_out(s, kept, 33);
  // Nearly every chunk has an element left.
  const auto pinned = s.inspector().report(0)->heap;
  CHECK(pinned.free_bytes * 10 >= pinned.heap_bytes * 9);
  CHECK(pinned.free_chunks * 16'384 * 10 <= pinned.heap_bytes);
  Kept large;
  fill(s, large, 5000, "large ");
  kept.insert(large.begin(), large.end());
  check_all(s, kept);
  check_heap(store, s);
  CHECK(s.inspector().report(0)->live_bytes * 10 >= pinned.heap_bytes * 9);
  // And neighbours are emptied for a run.
  thin_out(s, kept, 10);
  Kept runs;
  fill(s, runs, 100'000, "run ");
  kept.insert(runs.begin(), runs.end());
  check_all(s, kept);
  check_heap(store, s);
  CHECK(runs.size() * 7 * 16'384 * 2 >= pinned.heap_bytes);
}

TEST_CASE("full heap: several writes that find room only by moves are done wholly or not at all") {
  Store store = open_local("local:?memory=4MiB&sessions=2&ranks=2");
  Session s = session_of(store);
  Kept kept;
  fill(s, kept, 300, "small ");
  for (int i = 0; i < 20'000; ++i) {  // the other rank may have room left
    const std::string key = named("more ", i);
    if (s.put(key, pattern(300, i)).ok()) kept[key] = pattern(300, i);
  }
  thin_out(s, kept, 20);
  const std::string value = pattern(3000, 4);
  std::vector<std::string> keys;
  for (int i = 0; i < 400; ++i) keys.push_back(named("new ", i));
  std::vector<KeyValue> pairs;
  for (const auto& key : keys) pairs.emplace_back(key, value);
  REQUIRE(s.put_all(pairs).ok());
  for (const auto& key : keys) kept[key] = value;
  check_all(s, kept);
  const std::vector<std::string_view> some = {keys[0], keys[1], "another"};
  REQUIRE(s.transact(some, [&](auto values) {
             values[0] = pattern(60'000, 5);
             values[1].reset();
             values[2] = pattern(9000, 6);
             return true;
           }).ok());
  kept[keys[0]] = pattern(60'000, 5);
  kept.erase(keys[1]);
  kept["another"] = pattern(9000, 6);
  check_all(s, kept);
  check_heap(store, s);
}

/// H6. Each of them has used as many size classes as a workload of mixed sizes does.
TEST_CASE("full heap: sessions that are idle keep little of it from one that writes") {
  constexpr int kIdle = 128;
  Store store = open_local("local:?memory=64MiB&sessions=130&locks_per_session=8");
  std::vector<Session> idle;
  for (int i = 0; i < kIdle; ++i) {
    Session& s = idle.emplace_back(session_of(store));
    for (int size = 0; size < 16; ++size) {
      const std::string key = named(named("idle ", i) + " ", size);
      REQUIRE(s.put(key, pattern(40 + 60 * static_cast<std::size_t>(size), 1)).ok());
      REQUIRE(s.erase(key).ok());
    }
  }
  Session writer = session_of(store);
  Kept kept;
  fill(writer, kept, 3000, "element ");
  const auto report = *writer.inspector().report(0);
  CAPTURE(kept.size(), report.live_bytes, report.heap.heap_bytes);
  CHECK(report.live_bytes * 10 >= report.heap.heap_bytes * 9);
  std::vector<Session*> open = {&writer};
  for (Session& s : idle) open.push_back(&s);
  check_heap(store, writer, open);
}

TEST_CASE("full heap: put_all does all or nothing, and keeps no room from others") {
  Store store = open_local("local:?memory=4MiB&sessions=2&ranks=2");
  Session a = *store.session_at(0);
  Session b = *store.session_at(1);
  Kept kept;
  for (int i = 0; i < 20; ++i) {
    kept[named("there ", i)] = pattern(100, i);
    REQUIRE(a.put(named("there ", i), pattern(100, i)).ok());
  }
  std::vector<std::string> keys;
  for (int i = 0; i < 3000; ++i) keys.push_back(named("new ", i));
  const std::string value = pattern(3000, 4);
  std::vector<KeyValue> pairs;
  pairs.emplace_back("there 3", "changed");
  for (const auto& key : keys) pairs.emplace_back(key, value);
  const Status status = a.put_all(pairs);
  CHECK(status == Code::kOutOfSpace);
  CHECK(status.message().find("nothing was written") != std::string_view::npos);
  check_all(a, kept);
  // The failed call's reservation is free again: b can fill the heap.
  for (std::uint32_t rank = 0; rank < 2; ++rank) CHECK(a.inspector().leased_bytes(rank) == 0);
  fill(b, kept, 30'000, "b's ");
  CHECK(kept.size() > 80);
  check_all(b, kept);
  CHECK(a.put_all(std::vector<KeyValue>{{"x", value}, {"y", pattern(40'000, 1)}}) ==
        Code::kOutOfSpace);
  check_all(a, kept);
  Session* const open[] = {&a, &b};
  check_heap(store, a, open);
}

TEST_CASE("full heap: a put_all that overwrites in place gives back what it set aside") {
  Store store = open_local("local:?memory=4MiB&sessions=2");
  Session a = session_of(store);
  const std::string large = pattern(200'000, 1);
  std::vector<std::string> keys;
  for (int i = 0; i < 4; ++i) keys.push_back(named("large ", i));
  std::vector<KeyValue> pairs;
  for (const auto& key : keys) pairs.emplace_back(key, large);
  for (std::uint32_t round = 0; round < 1 + scaled(10) / 5; ++round) REQUIRE(a.put_all(pairs).ok());
  CHECK(a.inspector().leased_bytes(0) <=
        2 * 16384);  // overflow buckets, at most a chunk's worth
  check_heap(store, a);
}

TEST_CASE("full heap: transact leaves everything as it was") {
  Store store = open_local("local:?memory=2MiB&sessions=2&locks_per_session=8");
  Session s = session_of(store);
  Kept kept;
  fill(s, kept, 700, "element ");
  const std::vector<std::string_view> keys = {"element 1", "element 2", "absent"};
  CHECK(s.transact(keys, [](auto values) {
    values[0] = "short";
    values[1] = pattern(50'000, 1);
    values[2] = "new";
    return true;
  }) == Code::kOutOfSpace);
  check_all(s, kept);
  // To erase and to shrink needs no room.
  CHECK(s.transact(keys, [](auto values) {
           values[0].reset();
           values[1] = pattern(700, 77);
           return true;
         }).ok());
  kept.erase("element 1");
  kept["element 2"] = pattern(700, 77);
  check_all(s, kept);
  check_heap(store, s);
}
