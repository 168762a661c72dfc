// Long chains: one bucket for everything, so that lines come and go at the end, at the start and
// in the middle.
#include <algorithm>
#include <map>

#include "accounting.h"
#include "keyway/locks/base/rng.h"

using namespace keyway;
using namespace keyway::test;

namespace {

std::string key_of(int i) { return i % 3 == 0 ? named("k", i) : named("a key of the heap ", i); }

}  // namespace

TEST_CASE("overflow: a chain of hundreds of lines holds every element once") {
  Store store = open_local("local:?memory=4MiB&sessions=1&buckets=1");
  Session s = session_of(store);
  constexpr int kElements = 600;
  for (int i = 0; i < kElements; ++i) REQUIRE(s.insert(key_of(i), pattern(i % 40, i)).ok());
  for (int i = 0; i < kElements; ++i) {
    REQUIRE(s.insert(key_of(i), "") == Code::kExists);
    REQUIRE(*s.get(key_of(i)) == pattern(i % 40, i));
  }
  CHECK(s.inspector().report(0)->elements == kElements);
  CHECK(s.inspector().report(0)->overflow_buckets >= kElements / 7);
  check_heap(store, s);
}

TEST_CASE("overflow: lines leave the chain from its end, its start and its middle") {
  constexpr int kElements = 120;
  for (const int from : {0, 50, kElements - 1}) {
    for (const int step : {1, 7, 119}) {
      CAPTURE(from, step);
      Store store = open_local("local:?memory=4MiB&sessions=1&buckets=1");
      Session s = session_of(store);
      for (int i = 0; i < kElements; ++i) REQUIRE(s.put(key_of(i), pattern(i, i)).ok());
      for (int gone = 0; gone < kElements; ++gone) {
        REQUIRE(s.erase(key_of((from + gone * step) % kElements)).ok());
        if (gone % 20 != 0) continue;
        for (int later = gone + 1; later < kElements; ++later) {
          const int i = (from + later * step) % kElements;
          REQUIRE(*s.get(key_of(i)) == pattern(i, i));
        }
        check_heap(store, s);
      }
      const auto report = *s.inspector().report(0);
      CHECK(report.overflow_buckets == 0);  // none is left empty in the chain
      CHECK(report.live_bytes == 0);
    }
  }
}

TEST_CASE("overflow: an element that grows in the middle of a chain stays single") {
  // Inline entries become heap entries and back, so lines get room, lose it, and split.
  Store store = open_local("local:?memory=4MiB&sessions=1&buckets=1");
  Session s = session_of(store);
  std::map<std::string, std::string> model;
  Rng rng(5);
  for (int step = 0; step < 20'000 / 4; ++step) {
    const std::string key = named("k", rng.below(60));
    if (rng.below(5) == 0) {
      REQUIRE(s.erase(key).ok() == (model.erase(key) == 1));
    } else {
      const std::string value = pattern(rng.below(2) == 0 ? rng.below(12) : rng.below(90), step);
      REQUIRE(s.put(key, value).ok());
      model[key] = value;
    }
    REQUIRE(*s.size() == model.size());
    if (step % 250 != 0) continue;
    for (const auto& [k, v] : model) REQUIRE(*s.get(k) == v);
    check_heap(store, s);  // K2: the walk counts no key twice
  }
}

TEST_CASE("overflow: when there is no room for a line, the write fails and nothing changes") {
  Store store = open_local("local:?memory=2MiB&sessions=1&locks_per_session=8&buckets=1");
  Session s = session_of(store);
  // One large element takes what is left; then only inline elements, which need lines, are put.
  std::size_t large = 1 << 21;
  while (!s.put("large", pattern(large, 1)).ok()) large -= 8192;
  REQUIRE(s.erase("large").ok());
  large -= 20'000;  // leaves a chunk or two for lines
  REQUIRE(s.put("large", pattern(large, 1)).ok());
  int stored = 0;
  Status status;
  while ((status = s.put(named("i", stored), "v")).ok()) ++stored;
  CHECK(status == Code::kOutOfSpace);
  CHECK(stored > 10);
  CHECK(*s.size() == static_cast<std::uint64_t>(stored) + 1);
  for (int i = 0; i < stored; ++i) REQUIRE(*s.get(named("i", i)) == "v");
  CHECK(*s.get("large") == pattern(large, 1));
  check_heap(store, s);
  REQUIRE(s.erase("large").ok());
  CHECK(s.put(named("i", stored), "v").ok());
  check_heap(store, s);
}

TEST_CASE("overflow: the longest chain is noted as it grows, and stays noted") {
  Store store = open_local("local:?memory=8MiB&sessions=2&buckets=3&ranks=2");
  Session s = session_of(store);
  Session other = session_of(store);
  for (const std::uint32_t rank : {0u, 1u})
    CHECK(s.inspector().usage(rank).longest_chain_lines == 1);
  Rng rng(11);
  std::uint64_t most[2] = {1, 1};
  const auto check = [&] {
    for (const std::uint32_t rank : {0u, 1u}) {
      CAPTURE(rank);
      most[rank] = std::max(most[rank], s.inspector().report(rank)->longest_chain_lines);
      REQUIRE(s.inspector().usage(rank).longest_chain_lines == most[rank]);
    }
  };
  // Entries become inline and move to the heap and back, in turn by two sessions.
  for (int step = 0; step < 1500; ++step) {
    Session& writer = rng.below(2) == 0 ? s : other;
    const std::string key = named("k", rng.below(300));
    REQUIRE(writer.put(key, pattern(rng.below(2) == 0 ? rng.below(12) : rng.below(60), 1)).ok());
    check();
  }
  CHECK(most[0] > 5);
  CHECK(most[1] > 5);
  REQUIRE(s.clear().ok());
  CHECK(s.inspector().report(0)->longest_chain_lines == 1);
  check();
}
