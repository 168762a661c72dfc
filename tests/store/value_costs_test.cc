// The cost of operations on a part of a value, or on none of it: the local memory that they touch,
// and the bytes that they move to and from another rank. The tests count, and do not time.
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "accounting.h"
#include "keyway/locks/base/clock.h"
#include "tests/conformance/deferred_fabric.h"
#include "tests/store/deferred_session.h"
#include "tests/support/forbidden_pages.h"
#include "volumes.h"

using namespace keyway;
using namespace keyway::test;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kLarge = 8 * kMiB;
constexpr std::uint64_t kRanks = 2;

struct LazyPair {
  LazyPair()
      : geometry(*store::Geometry::plan({.memory_bytes = 40 * kMiB,
                                         .buckets = 64,
                                         .stripes = 8,
                                         .agents_per_rank = 2,
                                         .nodes_per_agent = 32})),
        lock(*locks::AnyLock::make("gbh:lockall=off")),
        fabric(deferred_fabric(geometry, kRanks, /*agents_per_rank=*/2)),
        session(std::move(*fabric.endpoint(0)), geometry, lock, {}) {}
  /// The first key of these that the other rank owns.
  std::string key_of_the_other() const {
    for (int i = 0;; ++i) {
      if (const std::string key = named("a key ", i); session.owner_of(key) == 1) return key;
    }
  }
  std::uint64_t moved_by(const std::function<void()>& operation) {
    const std::uint64_t before = session.endpoint().bytes_moved();
    operation();
    return session.endpoint().bytes_moved() - before;
  }

  store::Geometry geometry;
  locks::StripeLock lock;
  conformance::DeferredFabric fabric;
  LazySession session;
};

/// One operation on a part of the value, and what it makes of a model of it.
struct Operation {
  const char* name;
  std::function<void(LazySession& s, std::string_view key, std::string& model)> act;
};

const Operation kOperations[] = {
    {"append",
     [](LazySession& s, std::string_view key, std::string& model) {
       model += "x";
       CHECK(*s.append(key, "x") == model.size());
     }},
    {"set_range at the start",
     [](LazySession& s, std::string_view key, std::string& model) {
       model[0] = 'y';
       CHECK(*s.set_range(key, 0, "y", PutIf::kAlways) == model.size());
     }},
    {"set_range in the middle",
     [](LazySession& s, std::string_view key, std::string& model) {
       model.replace(model.size() / 2, 3, "mid");
       CHECK(*s.set_range(key, model.size() / 2, "mid", PutIf::kAlways) == model.size());
     }},
    {"set_range behind the end",
     [](LazySession& s, std::string_view key, std::string& model) {
       model += std::string("\0\0\0z", 4);
       CHECK(*s.set_range(key, model.size() - 1, "z", PutIf::kAlways) == model.size());
     }},
    {"modify a byte",
     [](LazySession& s, std::string_view key, std::string& model) {
       const std::uint64_t at = model.size() / 3;
       CHECK(s.modify_part(key, {at, 1}, [&](const ElementPart* old) {
                CHECK(old->bytes == std::string_view(model).substr(at, 1));
                return Decision::overwrite(at, "b", old->expires_at_ms);
              }).ok());
       model[at] = 'b';
     }},
    {"expire", [](LazySession& s, std::string_view key,
                  std::string&) { CHECK(s.set_expiry(key, wall_ms() + 1'000'000).ok()); }},
    {"persist", [](LazySession& s, std::string_view key,
                   std::string&) { CHECK(s.set_expiry(key, store::kNoExpiry).ok()); }},
    {"info", [](LazySession& s, std::string_view key,
                std::string& model) { CHECK(s.info(key)->value_bytes == model.size()); }},
    {"get_range",
     [](LazySession& s, std::string_view key, std::string& model) {
       std::string out;
       CHECK(s.get_range(key, model.size() - 5, 3, out).ok());
       CHECK(out == model.substr(model.size() - 5, 3));
     }},
    {"version",
     [](LazySession& s, std::string_view key, std::string&) { CHECK(s.version_of(key)->there); }},
};

}  // namespace

TEST_CASE("value costs: a part of a large local value is changed without a touch of the rest") {
  Store store = open_local("local:?memory=64MiB");
  Session s = session_of(store);
  std::string model = pattern(kLarge, 3);
  REQUIRE(s.put("k", model).ok());
  std::string_view at;
  REQUIRE(s.read("k", [&](const ElementState& element) { at = element.value; }).ok());
  std::string out;
  {
    const ForbiddenPages forbidden(at, 64 * 1024);
    CHECK(*s.append("k", "at the end") == kLarge + 10);
    CHECK(*s.set_range("k", 5, "at the start") == kLarge + 10);
    CHECK(*s.set_range("k", kLarge + 12, "!") == kLarge + 13);
    CHECK(s.expire_at("k", wall_ms() + 1'000'000).ok());
    CHECK(s.persist("k").ok());
    CHECK(s.info("k")->value_bytes == kLarge + 13);
    CHECK(s.get_range("k", kLarge - 3, 6, out).ok());
    CHECK(s.version_of("k")->there);
    CHECK(s.put("k", "never", {.when = PutIf::kAbsent}) == Code::kExists);
    CHECK(*s.scan_keys(0, 100, [](std::string_view key) { CHECK(key == "k"); }) == 0);
    CHECK(*s.scan_keys_from("k", 1, [](std::string_view key) { CHECK(key == "k"); }) == 1);
    CHECK(*s.inspector().sweep_expired(0) == 0);
    CHECK(s.inspector().report(0)->value_bytes == kLarge + 13);
  }
  CHECK(out == model.substr(kLarge - 3) + "at ");
  model.replace(5, 12, "at the start");
  model += std::string("at the end\0\0!", 13);
  CHECK(*s.get("k") == model);
  {
    REQUIRE(s.read("k", [&](const ElementState& element) { at = element.value; }).ok());
    const ForbiddenPages forbidden(at, 64 * 1024);
    CHECK(s.erase("k").ok());
  }
  check_heap(store, s);
}

TEST_CASE("value costs: a byte of a large remote value costs what one of a small one does") {
  LazyPair pair;
  LazySession& s = pair.session;
  const std::string key = pair.key_of_the_other();
  std::map<std::string, std::uint64_t> small;
  for (const std::uint64_t bytes : {std::uint64_t{1024}, kLarge}) {
    std::string model = pattern(bytes, 9);
    REQUIRE(s.put(key, model, {}).ok());
    for (const Operation& operation : kOperations) {
      const auto moved = pair.moved_by([&] { operation.act(s, key, model); });
      CAPTURE(operation.name, bytes, moved);
      if (bytes == 1024) {
        small[operation.name] = moved;
      } else {
        CHECK(moved <= small[operation.name]);
        CHECK(moved <= 512);
      }
    }
    std::string out;
    CHECK(s.get(key, out).ok());
    CHECK(out == model);
  }
  check_volumes(s, kRanks);
}

TEST_CASE("value costs: a change of n bytes of a remote value moves about 2 n") {
  LazyPair pair;
  LazySession& s = pair.session;
  const std::string key = pair.key_of_the_other();
  REQUIRE(s.put(key, std::string(kLarge, 'v'), {}).ok());
  for (const std::uint64_t n : {1, 1000, 100'000, 1'000'000}) {
    const std::string bytes(n, 'n');
    const auto over =
        pair.moved_by([&] { CHECK(s.set_range(key, 77, bytes, PutIf::kAlways).ok()); });
    CAPTURE(n, over);
    CHECK(over <= 2 * n + 512);
  }
}

TEST_CASE("value costs: appends to a remote value are amortised") {
  LazyPair pair;
  LazySession& s = pair.session;
  const std::string key = pair.key_of_the_other();
  const std::string suffix(100, 's');
  std::uint64_t moved = 0;
  for (std::uint64_t bytes = 0; bytes < kMiB; bytes += suffix.size()) {
    moved += pair.moved_by([&] { CHECK(s.append(key, suffix).ok()); });
  }
  // A byte of what grows by an eighth is read and written nine times at most; below a chunk the
  // whole block is read for each append; and each costs a line, a header and its own bytes.
  CHECK(moved <= 2 * 9 * kMiB + (kMiB / 100) * 512 + 164 * store::kChunkBytes);
  CHECK(s.info(key)->value_bytes >= kMiB);
  check_volumes(s, kRanks);
}

TEST_CASE("value costs: a change that leaves the expiry asks for no other one") {
  LazyPair pair;
  LazySession& s = pair.session;
  const std::string expires = pair.key_of_the_other();
  std::string stays = expires + "+";
  while (s.owner_of(stays) != 1) stays += "+";
  REQUIRE(s.put(stays, pattern(1000, 1), {}).ok());
  REQUIRE(s.put(expires, pattern(1000, 2), {.expires_at_ms = wall_ms() + 10'000'000}).ok());
  const auto change = [&](const std::string& key) {
    CHECK(s.set_range(key, 64, "changed", PutIf::kAlways).ok());
  };
  change(stays);
  const auto before = pair.moved_by([&] { change(stays); });
  change(expires);
  CHECK(pair.moved_by([&] { change(stays); }) == before);
}

TEST_CASE("value costs: room to grow on does not double a block") {
  Store store = open_local("local:?memory=64MiB");
  Session s = session_of(store);
  for (const std::uint64_t bytes : {15'000, 31'000}) {
    CAPTURE(bytes);
    REQUIRE(s.put("k", pattern(bytes / 2, 1)).ok());
    REQUIRE(s.append("k", pattern(bytes - bytes / 2, 2)).ok());
    CHECK(s.inspector().report(0)->live_bytes ==
          (bytes / store::kChunkBytes + 1) * store::kChunkBytes);
    REQUIRE(s.erase("k").ok());
  }
}

TEST_CASE("value costs: keys are scanned without values, also of another rank") {
  LazyPair pair;
  LazySession& s = pair.session;
  constexpr std::uint64_t kKeys = 60;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    REQUIRE(s.put(named("key ", i), std::string(i % 2 == 0 ? 100'000 : 5'000, 'v'), {}).ok());
  }
  const std::string long_key = pattern(3'000, 1);
  REQUIRE(s.put(long_key, "v", {}).ok());
  std::set<std::string> shown;
  const auto keys = pair.moved_by([&] {
    CHECK(*s.scan_keys(0, 1000, [&](std::string_view key) { shown.emplace(key); }) == 0);
  });
  CHECK(shown.size() == kKeys + 1);
  CHECK(shown.contains(long_key));
  // Lines of the table and its overflow, 64 bytes of each element, one long key.
  const std::uint64_t table = (pair.geometry.buckets() + kKeys) * store::kBucketBytes;
  CHECK(keys <= table + kKeys * 64 + 2 * 4096);
  std::uint64_t with_values = 0;
  CHECK(*s.scan(0, 1000, [&](auto, auto value) { with_values += value.size(); }) == 0);
  CHECK(with_values == kKeys / 2 * 105'000 + 1);
  std::uint64_t on_rank = 0;
  CHECK(*s.scan_keys_rank(1, 0, 1000, [&](auto key) {
    CHECK(s.owner_of(key) == 1);
    ++on_rank;
  }) == 0);
  CHECK(on_rank == *s.size_of(1));
}

TEST_CASE("value costs: a sweep reads no values of another rank, nor does a clear") {
  LazyPair pair;
  LazySession& s = pair.session;
  constexpr std::uint64_t kKeys = 60;
  constexpr std::uint64_t kLongAgo = 1;
  std::uint64_t past = 0;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    REQUIRE(s.put(named("stays ", i), std::string(i % 2 == 0 ? 100'000 : 5'000, 'v'), {}).ok());
    REQUIRE(s.put(named("past ", i), "v", {.expires_at_ms = kLongAgo}).ok());
    past += s.owner_of(named("past ", i)) == 1 ? 1 : 0;
  }
  REQUIRE(past > 0);
  // Each line of the table and its overflow is read and written, and of each element 64 bytes read.
  const std::uint64_t lines = pair.geometry.buckets() + 2 * kKeys;
  const std::uint64_t most = 2 * lines * store::kBucketBytes + 2 * kKeys * 64;
  const auto swept = pair.moved_by([&] { CHECK(*s.sweep_expired(1) == past); });
  CHECK(swept <= most);
  CHECK(pair.moved_by([&] { CHECK(s.clear_rank(1).ok()); }) <= most);
  CHECK(*s.size_of(1) == 0);
  check_volumes(s, kRanks);
}

// K7, and the count of elements that expire.
TEST_CASE("value costs: an expiry that changes in place is counted, and found by the next sweep") {
  constexpr std::uint64_t kLongAgo = 1;
  LazyPair pair;
  LazySession& s = pair.session;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    std::string key = "key";
    while (s.owner_of(key) != rank) key += "+";
    for (const std::uint64_t bytes : {100, 5'000, 100'000}) {
      CAPTURE(rank, bytes);
      const std::uint64_t future = wall_ms() + 10'000'000;
      const auto expire = [&](std::uint64_t at) {
        return s.modify_part(key, {}, [&](const ElementPart* old) {
          return old == nullptr ? store::Decision::fail(Code::kNotFound)
                                : store::Decision::expire(at);
        });
      };
      REQUIRE(s.put(key, pattern(bytes, 1), {.expires_at_ms = future}).ok());
      CHECK(s.usage(rank).expiring == 1);
      CHECK(*s.sweep_expired(rank) == 0);
      CHECK(s.set_expiry(key, store::kNoExpiry).ok());
      CHECK(s.usage(rank).expiring == 0);
      CHECK(*s.sweep_expired(rank) == 0);
      CHECK(s.set_expiry(key, future).ok());
      CHECK(s.usage(rank).expiring == 1);
      CHECK(expire(kLongAgo).ok());
      CHECK(expire(future) == Code::kNotFound);
      CHECK(s.usage(rank).expiring == 0);  // the write that met it has removed it
      REQUIRE(s.put(key, pattern(bytes, 2), {.expires_at_ms = future}).ok());
      CHECK(*s.sweep_expired(rank) == 0);
      CHECK(expire(kLongAgo).ok());
      CHECK(*s.sweep_expired(rank) == 1);
      CHECK(*s.size_of(rank) == 0);
    }
  }
  check_volumes(s, kRanks);
}

TEST_CASE("value costs: a look for a long key ends with the segment of the other rank") {
  LazyPair pair;
  LazySession& s = pair.session;
  const store::Geometry& geometry = pair.geometry;
  // The keys share a tag, so that the one in the heap's last two chunks is looked at for the other.
  std::string long_key(store::kMaxKeyBytes, 'k');
  while (s.owner_of(long_key) != 1) ++long_key[0];
  const std::uint64_t hash = geometry.hash_of(long_key);
  const auto collides = [&](std::string_view key) {
    const std::uint64_t other = geometry.hash_of(key);
    return s.owner_of(key) == 1 && geometry.bucket_of(other) == geometry.bucket_of(hash) &&
           store::tag_of(other) == store::tag_of(hash);
  };
  std::uint64_t i = 0;
  while (!collides(named("key ", i))) ++i;
  const std::string key = named("key ", i);
  const std::uint64_t before = (geometry.chunks() - 2) * store::kChunkBytes;
  std::string filling = "filling";
  while (s.owner_of(filling) != 1) filling += "+";
  REQUIRE(s.put(filling, std::string(before - 100, 'f'), {}).ok());
  REQUIRE(s.put(key, std::string(20'000, 'v'), {}).ok());
  REQUIRE(s.usage(1).heap.free_chunks == 0);
  std::string out;
  CHECK(s.get(long_key, out) == Code::kNotFound);
  CHECK(s.get(key, out).ok());
  CHECK(out == std::string(20'000, 'v'));
}

TEST_CASE("value costs: an element of another rank that is damaged is noticed as a whole") {
  LazyPair pair;
  LazySession& s = pair.session;
  const std::string key = pair.key_of_the_other();
  for (const std::uint64_t bytes : {100, 5'000, 100'000}) {
    REQUIRE(s.put(key, std::string(bytes, 'v'), {}).ok());
    REQUIRE(s.set_range(key, bytes / 2, "changed", PutIf::kAlways).ok());
    std::string out;
    REQUIRE(s.get(key, out).ok());
    // A word of the value that changes behind the store's back.
    auto& ep = s.endpoint();
    const fabric::Address line =
        pair.geometry.bucket(1, pair.geometry.bucket_of(pair.geometry.hash_of(key)));
    const store::EntryWord entry(ep.load(fabric::rma, line + 8));
    REQUIRE(entry.kind() == store::EntryKind::kHeap);
    const fabric::Address word(1, entry.offset() + 64);
    const std::uint64_t before = ep.load(fabric::rma, word);
    ep.store(fabric::rma, word, before ^ 1);
    CHECK(s.get(key, out) == Code::kCorruption);
    ep.store(fabric::rma, word, before);
    CHECK(s.get(key, out).ok());
  }
}
