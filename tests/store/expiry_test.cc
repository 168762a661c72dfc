// Expiry: it hides an element at its time, and each kind of write keeps or drops it as client.h
// says. Times long past and far ahead mean "expired" and "not yet": no test waits.
#include "accounting.h"

#include <algorithm>
#include "keyway/locks/base/clock.h"

using namespace keyway;
using namespace keyway::test;

namespace {

constexpr std::uint64_t kPast = 1;
const std::uint64_t kFuture = wall_ms() + 1000ULL * 3600 * 24 * 365;

std::uint64_t expiry_of(Session& s, std::string_view key) { return s.info(key)->expires_at_ms; }

}  // namespace

TEST_CASE("expiry: what may keep it keeps it, what may drop it drops it", "[memory]") {
  Store store = open_local("local:?memory=4MiB&sessions=1&ranks=2");
  Session s = session_of(store);
  const std::string zeros(500, '0');
  for (const std::string& value : {std::string("5"), zeros + "5"}) {
    for (const std::string& key : {std::string("k"), std::string(100, 'k')}) {
      CAPTURE(value.size(), key.size());
      REQUIRE(s.put(key, value, {.expires_at_ms = kFuture}).ok());
      CHECK(expiry_of(s, key) == kFuture);
      CHECK(*s.get(key) == value);
      CHECK(s.update(key, value + "1").ok());
      CHECK(expiry_of(s, key) == kFuture);
      CHECK(s.compare_and_set(key, value + "1", value).ok());
      CHECK(expiry_of(s, key) == kFuture);
      CHECK(s.put(key, "5", {.keep_expiry = true}).ok());
      CHECK(*s.increment(key) == 6);
      CHECK(expiry_of(s, key) == kFuture);
      CHECK(*s.append(key, "0") == 2);
      CHECK(expiry_of(s, key) == kFuture);
      CHECK(*s.set_range(key, 1, "1") == 2);
      CHECK(expiry_of(s, key) == kFuture);
      CHECK(s.put(key, value, {.keep_expiry = true}).ok());
      CHECK(expiry_of(s, key) == kFuture);
      const std::vector<std::string_view> keys = {key};
      CHECK(s.transact(keys, [](auto values) { return *values[0] += "7", true; }).ok());
      CHECK(expiry_of(s, key) == kFuture);
      CHECK(s.put(key, value).ok());
      CHECK(expiry_of(s, key) == store::kNoExpiry);
      CHECK(s.expire_at(key, kFuture + 1).ok());
      CHECK(expiry_of(s, key) == kFuture + 1);
      CHECK(*s.get(key) == value);
      CHECK(s.persist(key).ok());
      CHECK(expiry_of(s, key) == store::kNoExpiry);
      CHECK(*s.get(key) == value);
      CHECK(s.expire_after(key, std::chrono::hours(1)).ok());
      CHECK(expiry_of(s, key) > wall_ms());
      CHECK(s.expire_after(key, std::chrono::milliseconds::max()).ok());  // for ever, nearly
      CHECK(expiry_of(s, key) > kFuture);
      CHECK(*s.get(key) == value);
      REQUIRE(s.erase(key).ok());
    }
  }
  CHECK(s.expire_at("nothing", kFuture) == Code::kNotFound);
  CHECK(s.persist("nothing") == Code::kNotFound);
  check_heap(store, s);
}

TEST_CASE("expiry: an element past it is not there, for anybody", "[memory]") {
  Store store = open_local("local:?memory=4MiB&sessions=1");
  Session s = session_of(store);
  const auto expired = [&] { REQUIRE(s.put("k", "old", {.expires_at_ms = kPast}).ok()); };
  expired();
  CHECK(s.get("k").code() == Code::kNotFound);
  CHECK(s.info("k").code() == Code::kNotFound);
  const std::vector<std::string_view> keys = {"k"};
  CHECK_FALSE((*s.get_all(keys))[0].has_value());
  std::vector<std::string> out(1);
  std::vector<Code> codes(1);
  s.get_many(keys, out, codes);
  CHECK(codes[0] == Code::kNotFound);
  int shown = 0;
  const auto count = [&](auto, auto) { ++shown; };
  CHECK(*s.scan(0, 1000, count) == 0);
  CHECK(*s.scan_from("k", 1000, count) == 0);
  CHECK(shown == 0);

  CHECK(s.update("k", "new") == Code::kNotFound);  // and has removed it
  CHECK(*s.size() == 0);
  expired();
  CHECK(s.compare_and_set("k", "old", "new") == Code::kNotFound);
  expired();
  CHECK(s.erase("k") == Code::kNotFound);
  CHECK(*s.size() == 0);
  expired();
  CHECK(s.expire_at("k", kFuture) == Code::kNotFound);
  expired();
  CHECK(s.persist("k") == Code::kNotFound);
  expired();
  CHECK(*s.erase_all(keys) == 0);
  CHECK(*s.size() == 0);
  expired();
  CHECK(s.insert("k", "new").ok());
  CHECK(*s.get("k") == "new");
  CHECK(*s.size() == 1);
  expired();
  CHECK(*s.increment("k", 7) == 7);
  CHECK(expiry_of(s, "k") == store::kNoExpiry);
  expired();
  CHECK(*s.append("k", "x") == 1);
  expired();
  CHECK(s.put("k", "kept?", {.keep_expiry = true}).ok());
  CHECK(*s.get("k") == "kept?");
  expired();
  const std::vector<KeyValue> pairs = {{"k", "new"}};
  CHECK(s.put_all(pairs, {.when = PutIf::kPresent}) == Code::kNotFound);
  CHECK(s.put_all(pairs, {.when = PutIf::kAbsent}).ok());
  CHECK(*s.get("k") == "new");
  expired();
  CHECK(s.transact(keys, [](auto values) { return !values[0].has_value(); }).ok());
  CHECK(s.transact(keys, [](auto values) {
           if (values[0]) return false;
           values[0] = "new";
           return true;
         }).ok());
  CHECK(*s.get("k") == "new");
  CHECK(expiry_of(s, "k") == store::kNoExpiry);
  check_heap(store, s);
}

// T3: a part that is written does not bring the rest back.
TEST_CASE("expiry: no part of an element past it is changed, it begins anew", "[memory]") {
  Store store = open_local("local:?memory=4MiB&sessions=1&ranks=2");
  Session s = session_of(store);
  for (const std::size_t bytes : {3, 100, 5'000, 100'000}) {
    for (const std::string& key :
         {std::string("k"), std::string("another"), std::string(100, 'k')}) {
      CAPTURE(bytes, key);
      const auto expired = [&] {
        REQUIRE(s.put(key, pattern(bytes, 1), {.expires_at_ms = kPast}).ok());
      };
      const auto is = [&](std::string_view value) {
        CHECK(*s.get(key) == value);
        CHECK(expiry_of(s, key) == store::kNoExpiry);
        CHECK(*s.size() == 1);
      };
      expired();
      CHECK(*s.append(key, "x") == 1);
      is("x");
      expired();
      CHECK(*s.set_range(key, 2, "ab") == 4);
      is(std::string_view("\0\0ab", 4));
      expired();
      CHECK(s.modify_part(key, {0, 1}, [](const ElementPart* old) {
               CHECK(old == nullptr);
               return Decision::overwrite(1, "c", store::kNoExpiry);
             }).ok());
      is(std::string_view("\0c", 2));
      expired();
      CHECK(s.expire_at(key, kFuture) == Code::kNotFound);
      expired();
      CHECK(s.persist(key) == Code::kNotFound);
      CHECK(*s.size() == 0);
      expired();
      std::string out;
      CHECK(s.get_range(key, 0, 1, out) == Code::kNotFound);
      CHECK(s.read_part(
                key, [](auto) { return ValueRange::whole(); }, [](auto&) { FAIL(); }) ==
            Code::kNotFound);
      CHECK(*s.scan_keys(0, 100, [](auto) { FAIL(); }) == 0);
      CHECK(*s.scan_keys_from(key, 100, [](auto) { FAIL(); }) == 0);
      CHECK(*s.inspector().sweep_expired(0) + *s.inspector().sweep_expired(1) == 1);
      CHECK(*s.size() == 0);
    }
  }
  check_heap(store, s);
}

TEST_CASE("expiry: to set one that has passed erases at once") {
  Store store = open_local("local:?memory=4MiB&sessions=1");
  Session s = session_of(store);
  for (const std::uint64_t at : {std::uint64_t{0}, kPast, wall_ms() - 1}) {
    REQUIRE(s.put("k", "v").ok());
    CHECK(s.expire_at("k", at).ok());
    CHECK(*s.size() == 0);
  }
  for (const auto span : {std::chrono::milliseconds(0), std::chrono::milliseconds(-5),
                          std::chrono::milliseconds::min()}) {
    REQUIRE(s.put("k", "v").ok());
    CHECK(s.expire_after("k", span).ok());
    CHECK(*s.size() == 0);
  }
}

TEST_CASE("expiry: it comes by itself", "[memory]") {
  Store store = open_local("local:?memory=4MiB&sessions=1");
  Session s = session_of(store);
  REQUIRE(s.put("k", "v").ok());
  const std::uint64_t at = wall_ms() + 30;
  REQUIRE(s.expire_at("k", at).ok());
  // Until its time it is there, from then on it is not; the clock is read on both sides of the get.
  for (bool there = true; there;) {
    const bool early = wall_ms() < at;
    there = s.get("k").ok();
    const bool late = wall_ms() >= at;
    if (there) REQUIRE(early);
    if (!there) REQUIRE(late);
  }
  CHECK(*s.size() == 1);  // not swept yet
  CHECK(*s.inspector().sweep_expired(0) == 1);
  CHECK(*s.size() == 0);
}

TEST_CASE("expiry: a sweep removes what has expired and nothing else, also from long chains",
          "[memory]") {
  Store store = open_local("local:?memory=4MiB&sessions=1&buckets=2");
  Session s = session_of(store);
  for (int i = 0; i < 300; ++i) {
    const PutOptions options{.expires_at_ms = i % 3 == 0 ? kPast : i % 3 == 1 ? kFuture : 0};
    REQUIRE(s.put(named("key ", i), pattern(i, i), options).ok());
  }
  CHECK(*s.size() == 300);
  CHECK(*s.inspector().sweep_expired(0) == 100);
  CHECK(*s.inspector().sweep_expired(0) == 0);
  CHECK(*s.size() == 200);
  for (int i = 0; i < 300; ++i) {
    const auto value = s.get(named("key ", i));
    REQUIRE(value.ok() == (i % 3 != 0));
    if (value.ok()) REQUIRE(*value == pattern(i, i));
  }
  check_heap(store, s);
}

TEST_CASE("expiry: a sweep in parts meets every stripe once a round", "[memory]") {
  for (const int stripes : {1, 7, 64}) {
    for (const std::uint64_t lines : {1, 3, 64, 100'000}) {
      CAPTURE(stripes, lines);
      Store store = open_local(fmt::format("local:?memory=4MiB&sessions=1&stripes={}", stripes));
      Session s = session_of(store);
      CHECK(s.inspector().sweep_part(0, 0, lines)->next ==
            0);  // nothing expires: the round is over at once
      for (int i = 0; i < 300; ++i) {
        const PutOptions options{.expires_at_ms = i % 3 == 0 ? kPast : i % 3 == 1 ? kFuture : 0};
        REQUIRE(s.put(named("key ", i), pattern(i, i), options).ok());
      }
      const auto round = [&] {
        store::SweepPart all;
        int calls = 0;
        do {
          const auto part = s.inspector().sweep_part(0, all.next, lines);
          REQUIRE(part.ok());
          all.removed += part->removed;
          all.visited += part->visited;
          all.next = part->next;
          REQUIRE(++calls <= stripes);
        } while (all.next != 0);
        return all;
      };
      const auto first = round();
      CHECK(first.removed == 100);
      CHECK(first.visited > 0);
      const auto second = round();  // nothing is due: no line is visited
      CHECK(second.removed == 0);
      CHECK(second.visited == 0);
      CHECK(*s.size() == 200);
      check_heap(store, s);
    }
  }
  Store store = open_local("local:?memory=4MiB&sessions=1&stripes=4");
  Session s = session_of(store);
  CHECK(s.inspector().sweep_part(1, 0, 1).code() == Code::kInvalidArgument);
  CHECK(s.inspector().sweep_part(0, 1 << 20, 1).code() == Code::kInvalidArgument);
  CHECK(s.inspector().sweep_part(0, 0, 0).code() == Code::kInvalidArgument);
}

TEST_CASE("expiry: a sweep visits only the stripes in which something has expired", "[memory]") {
  Store store = open_local("local:?memory=4MiB&sessions=1&stripes=64");
  Session s = session_of(store);
  for (int i = 0; i < 3000; ++i) {
    REQUIRE(s.put(named("key ", i), pattern(i % 50, i), {.expires_at_ms = kFuture}).ok());
  }
  CHECK(s.inspector().sweep_part(0, 0, 1'000'000)->visited == 0);
  REQUIRE(s.put("one", "v", {.expires_at_ms = kPast}).ok());
  const auto part = s.inspector().sweep_part(0, 0, 1'000'000);
  CHECK(part->removed == 1);
  const std::uint64_t table_lines = s.inspector().report(0)->table_bytes / 64;
  CHECK(part->visited > 0);
  CHECK(part->visited < table_lines / 16);  // one of 64 stripes, with its overflow lines
  CHECK(s.inspector().sweep_part(0, 0, 1'000'000)->visited == 0);
  CHECK(*s.size() == 3000);
}

TEST_CASE("expiry: a write that finds the heap full sweeps first") {
  Store store = open_local("local:?memory=4MiB&sessions=1");
  Session s = session_of(store);
  int stored = 0;
  while (s.put(named("old ", stored), pattern(3000, 1), {.expires_at_ms = kPast}).ok() &&
         stored < 5000) {
    ++stored;
  }
  CHECK(stored == 5000);                              // far more than fit: each full heap was swept
  REQUIRE(s.put("large", pattern(1 << 20, 2)).ok());  // chunks change their use, too
  CHECK(*s.get("large") == pattern(1 << 20, 2));
  check_heap(store, s);
}

TEST_CASE("expiry: writes of several keys that find the heap full sweep first, on every rank",
          "[memory]") {
  Store store = open_local("local:?memory=4MiB&sessions=1&ranks=2");
  Session s = session_of(store);
  // Elements that expired unread, until too few bytes are free on every rank for what follows.
  const auto fill = [&] {
    const auto free_bytes = [&] {
      return std::max(s.inspector().report(0)->heap.free_bytes,
                      s.inspector().report(1)->heap.free_bytes);
    };
    // A report walks the heap, so now and then.
    for (int i = 0; i % 16 != 0 || free_bytes() > 300'000; ++i) {
      REQUIRE(i < 5000);
      REQUIRE(s.put(named("old ", i), pattern(3000, 1), {.expires_at_ms = kPast}).ok());
    }
  };
  std::vector<std::string> names;
  for (int i = 0; i < 64; ++i) names.push_back(named("new ", i));
  const std::string value = pattern(20000, 2);
  std::vector<KeyValue> pairs;
  for (const std::string& name : names) pairs.push_back({name, value});
  std::vector<std::string_view> keys(names.begin(), names.end());

  fill();
  REQUIRE(s.put_all(pairs).ok());
  REQUIRE(*s.erase_all(keys) == keys.size());
  check_heap(store, s);

  fill();
  int calls = 0;
  REQUIRE(s.transact(keys, [&](auto values) {
             ++calls;
             for (auto& v : values) v = value;
             return true;
           }).ok());
  CHECK(calls == 2);  // the first attempt found the heap full
  CHECK(*s.get(names.back()) == value);
  check_heap(store, s);
}
