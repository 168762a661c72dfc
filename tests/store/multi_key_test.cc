// Several keys in one call: their answers, and that they agree with the single operations.
#include <atomic>
#include <thread>

#include "accounting.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/rng.h"

using namespace keyway;
using namespace keyway::test;

namespace {

const char* const kUris[] = {"local:?memory=4MiB&sessions=2",
                             "local:?memory=4MiB&sessions=2&ranks=4",
                             "local:?memory=4MiB&sessions=2&ranks=2&buckets=2",
                             "local:?memory=4MiB&sessions=2&ranks=2&lock=d-mcs"};

}  // namespace

TEST_CASE("several keys: a batch get answers as single gets do") {
  for (const char* uri : kUris) {
    Store store = open_local(uri);
    Session s = session_of(store);
    Rng rng(2);
    std::vector<std::string> names;
    for (int i = 0; i < 150; ++i) {
      names.push_back(named(i % 2 == 0 ? "k" : "a long key in the heap ", i));
      if (i % 5 != 0)
        REQUIRE(s.put(names.back(), pattern(rng.below(3) == 0 ? 20'000 : 30, i)).ok());
    }
    for (const std::size_t batch : {0, 1, 2, 15, 16, 17, 33, 100}) {
      CAPTURE(uri, batch);
      std::vector<std::string_view> keys;
      for (std::size_t i = 0; i < batch; ++i) keys.push_back(names[rng.below(names.size())]);
      std::vector<std::string> out(batch + 1, "stale");
      std::vector<Code> codes(batch + 1, Code::kBusy);
      s.get_many(keys, out, codes);
      for (std::size_t i = 0; i < batch; ++i) {
        const auto single = s.get(keys[i]);
        REQUIRE(codes[i] == single.code());
        if (single.ok()) REQUIRE(out[i] == *single);
      }
      CHECK(codes[batch] == Code::kBusy);  // data beyond it is not touched
      s.prefetch(keys);                    // only costs less afterwards
      std::size_t shown = 0;
      const Status read = s.read_all(keys, [&](std::size_t i, const ElementState* element) {
        REQUIRE(i == shown++);
        REQUIRE((element != nullptr) == (codes[i] == Code::kOk));
        if (element != nullptr) REQUIRE(element->value == out[i]);
      });
      CHECK(read.ok());
      CHECK(shown == batch);
      const auto all = s.get_all(keys);
      REQUIRE(all.ok());
      REQUIRE(all->size() == batch);
      for (std::size_t i = 0; i < batch; ++i) {
        const auto single = s.get(keys[i]);
        REQUIRE((*all)[i].has_value() == single.ok());
        if (single.ok()) REQUIRE(*(*all)[i] == *single);
      }
    }
  }
}

TEST_CASE("several keys: put_all, its conditions, and keys named twice") {
  for (const char* uri : kUris) {
    CAPTURE(uri);
    Store store = open_local(uri);
    Session s = session_of(store);
    const std::string large = pattern(40'000, 1);
    const std::vector<KeyValue> pairs = {
        {"a", "1"}, {"b", large}, {"a longer key, in the heap", "3"}};
    CHECK(s.put_all({}).ok());
    CHECK(s.put_all(pairs, {.when = PutIf::kPresent}) == Code::kNotFound);
    CHECK(*s.size() == 0);
    CHECK(s.put_all(pairs, {.when = PutIf::kAbsent}).ok());
    CHECK(*s.get("b") == large);
    CHECK(s.put_all(std::vector<KeyValue>{{"new", "x"}, {"a", "x"}}, {.when = PutIf::kAbsent}) ==
          Code::kExists);
    CHECK(s.get("new").code() == Code::kNotFound);
    CHECK(s.put_all(std::vector<KeyValue>{{"a", "x"}, {"new", "x"}}, {.when = PutIf::kPresent}) ==
          Code::kNotFound);
    CHECK(*s.get("a") == "1");
    CHECK(s.put_all(pairs, {.when = PutIf::kPresent, .expires_at_ms = wall_ms() + 1'000'000}).ok());
    CHECK(s.info("a")->expires_at_ms > wall_ms());
    // The last one counts.
    CHECK(s.put_all(std::vector<KeyValue>{{"a", "first"}, {"c", "c"}, {"a", large}, {"a", "last"}})
              .ok());
    CHECK(*s.get("a") == "last");
    CHECK(*s.size() == 4);
    check_heap(store, s);

    const std::vector<std::string_view> some = {"a", "nothing", "b", "a"};
    CHECK(*s.erase_all(some) == 2);
    CHECK(*s.erase_all(some) == 0);
    CHECK(*s.erase_all({}) == 0);
    CHECK(*s.size() == 2);
    check_heap(store, s);
  }
}

TEST_CASE("several keys: put_all keeps expiries that differ, whatever the room", "[memory]") {
  // Elements with and without expiry are of different classes; all must be had before any is
  // written, also when the heap is nearly full.
  for (std::size_t spare = 0; spare < 40; ++spare) {
    Store store = open_local("local:?memory=2MiB&sessions=2&locks_per_session=8&buckets=64");
    Session s = session_of(store);
    CAPTURE(spare);
    const std::uint64_t later = wall_ms() + 1'000'000;
    REQUIRE(s.put("with an expiry, this one", "v", {.expires_at_ms = later}).ok());
    REQUIRE(s.put("without an expiry, this one", "v").ok());
    int stored = 0;
    while (s.put(named("filler number ", stored), pattern(300, 1)).ok()) ++stored;
    for (std::size_t i = 0; i < spare * 5; ++i) {
      REQUIRE(s.erase(named("filler number ", i)).ok());
    }
    const std::string one = pattern(200 + spare * 20, 2), two = pattern(210 + spare * 20, 3);
    const Status status = s.put_all(std::vector<KeyValue>{{"with an expiry, this one", one},
                                                          {"without an expiry, this one", two}},
                                    {.keep_expiry = true});
    if (status.ok()) {
      CHECK(*s.get("with an expiry, this one") == one);
      CHECK(*s.get("without an expiry, this one") == two);
    } else {
      CHECK(status == Code::kOutOfSpace);
      CHECK(*s.get("with an expiry, this one") == "v");
      CHECK(*s.get("without an expiry, this one") == "v");
    }
    CHECK(s.info("with an expiry, this one")->expires_at_ms == later);
    CHECK(s.info("without an expiry, this one")->expires_at_ms == store::kNoExpiry);
    check_heap(store, s);
  }
}

TEST_CASE("several keys: a transaction of mixed expiries has all or nothing, whatever the room",
          "[memory]") {
  int committed = 0;
  int refused = 0;
  for (std::size_t spare = 0; spare < 40; ++spare) {
    Store store = open_local("local:?memory=2MiB&sessions=2&locks_per_session=8&buckets=64");
    Session s = session_of(store);
    CAPTURE(spare);
    const std::vector<std::string_view> keys = {"an element with an expiry",
                                                "an element without one"};
    REQUIRE(s.put(keys[0], "v", {.expires_at_ms = wall_ms() + 1'000'000}).ok());
    REQUIRE(s.put(keys[1], "v").ok());
    int stored = 0;
    while (s.put(named("filler number ", stored), pattern(300, 1)).ok()) ++stored;
    for (std::size_t i = 0; i < spare * 5; ++i) {
      REQUIRE(s.erase(named("filler number ", i)).ok());
    }
    const std::string grown = pattern(280, 2);
    const Status status = s.transact(keys, [&](auto values) {
      values[0] = values[1] = grown;
      return true;
    });
    CHECK((status.ok() || status == Code::kOutOfSpace));
    (status.ok() ? committed : refused) += 1;
    for (const auto key : keys) CHECK(*s.get(key) == (status.ok() ? grown : "v"));
    check_heap(store, s);
  }
  CHECK(committed > 0);
  CHECK(refused > 0);
}

TEST_CASE("several keys: a transaction reads, changes, adds and erases at one instant") {
  for (const char* uri : kUris) {
    CAPTURE(uri);
    Store store = open_local(uri);
    Session s = session_of(store);
    REQUIRE(s.put("stays", "1").ok());
    REQUIRE(s.put("goes", pattern(100, 1)).ok());
    const std::vector<std::string_view> keys = {"stays", "goes", "comes", "never"};
    CHECK(s.transact(keys, [](auto values) {
             CHECK(values.size() == 4);
             CHECK(*values[0] == "1");
             CHECK(*values[1] == pattern(100, 1));
             CHECK_FALSE(values[2]);
             CHECK_FALSE(values[3]);
             values[0]->append("2");
             values[1].reset();
             values[2] = pattern(30'000, 2);
             return true;
           }).ok());
    CHECK(*s.get("stays") == "12");
    CHECK(s.get("goes").code() == Code::kNotFound);
    CHECK(*s.get("comes") == pattern(30'000, 2));
    CHECK(*s.size() == 2);
    CHECK(s.transact(keys, [](auto values) {
      for (auto& value : values) value = std::string("x");
      return false;
    }) == Code::kMismatch);
    CHECK(*s.get("stays") == "12");
    CHECK(*s.size() == 2);
    const std::vector<std::string_view> twice = {"a", "b", "a"};
    bool called = false;
    CHECK(s.transact(twice, [&](auto) { return called = true; }) == Code::kInvalidArgument);
    CHECK_FALSE(called);
    check_heap(store, s);
  }
}

TEST_CASE("several keys: expiries come and go with their elements") {
  for (const char* uri : kUris) {
    CAPTURE(uri);
    Store store = open_local(uri);
    Session s = session_of(store);
    const std::uint64_t later = wall_ms() + 1'000'000;
    REQUIRE(s.put("from", "value", {.expires_at_ms = later}).ok());
    REQUIRE(s.put("to", pattern(400, 1)).ok());
    const std::vector<std::string_view> keys = {"from", "to", "comes"};
    CHECK(s.modify_all(keys, [&](std::span<ElementDraft> drafts) {
             CHECK(drafts[0]->expires_at_ms == later);
             CHECK(drafts[1]->expires_at_ms == store::kNoExpiry);
             CHECK_FALSE(drafts[2].there());
             drafts[1].write(drafts[0]->value, drafts[0]->expires_at_ms);
             drafts[0].erase();
             drafts[2].write("new", later + 1);
             return true;
           }).ok());
    CHECK(s.get("from").code() == Code::kNotFound);
    CHECK(*s.get("to") == "value");
    CHECK(s.info("to")->expires_at_ms == later);
    CHECK(s.info("comes")->expires_at_ms == later + 1);
    CHECK(s.modify_all(keys, [&](std::span<ElementDraft> drafts) {
             drafts[1].write(drafts[1]->value, store::kNoExpiry);
             return true;
           }).ok());
    CHECK(s.info("to")->expires_at_ms == store::kNoExpiry);
    CHECK(s.modify_all(keys, [](std::span<ElementDraft> drafts) {
      drafts[1].erase();
      return false;
    }) == Code::kMismatch);
    CHECK(*s.get("to") == "value");
    check_heap(store, s);
  }
}

TEST_CASE("several keys: who is alone in the store is seen at no half", "[memory]") {
  for (const std::string uri : kUris) {
    CAPTURE(uri);
    Store store = open_local(uri + "&stripes=64");
    Session s = session_of(store);
    const std::vector<std::string_view> keys = {"a", "a long key in the heap"};
    const std::vector<KeyValue> start = {{keys[0], "0"}, {keys[1], "0"}};
    REQUIRE(s.put_all(start).ok());
    std::atomic<bool> differed{false};
    std::jthread reader([&, other = session_of(store)](const std::stop_token& stop) mutable {
      while (!stop.stop_requested() && !differed.load(std::memory_order_relaxed)) {
        const auto values = other.get_all(keys);
        if (!values.ok() || (*values)[0] != (*values)[1]) differed = true;
      }
    });
    for (int i = 1; i <= 30; ++i) {
      const auto step = [&] {
        CHECK(*s.increment(keys[0]) == i);
        CHECK(s.put("fleeting", pattern(20'000, 1)).ok());
        CHECK(s.erase("fleeting").ok());
        std::uint64_t seen = 0;
        CHECK(*s.scan(0, 100, [&](auto, auto) { ++seen; }) == 0);
        CHECK(seen == 2);
        CHECK(s.put(keys[1], std::to_string(i)).ok());
      };
      REQUIRE(s.exclusively(step).ok());
    }
    reader.request_stop();
    reader.join();
    CHECK_FALSE(differed);
    const auto begin_anew = [&] {
      CHECK(s.clear().ok());
      CHECK(s.insert("after", "v").ok());
    };
    REQUIRE(s.exclusively(begin_anew).ok());
    CHECK(*s.size() == 1);
    check_heap(store, s);
  }
}

TEST_CASE("several keys: more stripes than a session can hold is an error, not a hang",
          "[memory]") {
  Store store =
      open_local("local:?memory=8MiB&sessions=2&locks_per_session=4&stripes=4096&lock=d-mcs");
  Session s = session_of(store);
  std::vector<std::string> names;
  for (int i = 0; i < 64; ++i) names.push_back(named("key ", i));
  const std::vector<std::string_view> keys(names.begin(), names.end());
  const auto all = s.get_all(keys);
  REQUIRE_FALSE(all.ok());
  CHECK(all.code() == Code::kUnavailable);
  CHECK(s.exclusively([] {}) == Code::kUnavailable);
  CHECK(s.put("key 1", "v").ok());  // and releases the locks that it held
  for (const auto key : keys) CHECK((s.get(key).ok() || key != "key 1"));
}
