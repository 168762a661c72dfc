// K6: a key that has changed never has a version again that it had before; one that has not keeps
// it as long as nothing beside it changes. And modify_all(), which relies on versions, when it is
// refused.
//
// On the fabric with late posted operations; two ranks of three are remote.
#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <tuple>

#include "accounting.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/rng.h"
#include "tests/conformance/deferred_fabric.h"
#include "tests/store/deferred_session.h"
#include "volumes.h"

using namespace keyway;
using namespace keyway::test;
using store::KeyVersion;

namespace {

constexpr std::uint32_t kRanks = 3;
using Words = std::tuple<std::uint64_t, std::uint32_t, std::uint16_t, bool>;

Words words_of(const KeyVersion& version) {
  return {version.epoch, version.line_version, version.element_version, version.there};
}

struct Fixture {
  explicit Fixture(std::uint64_t seed)
      : geometry(*store::Geometry::plan({.memory_bytes = 2 << 20,
                                         .buckets = 4,
                                         .stripes = 2,
                                         .agents_per_rank = 2,
                                         .nodes_per_agent = 32})),
        lock(*locks::AnyLock::make("gbh:lockall=off")),
        fabric(deferred_fabric(geometry, kRanks, /*agents_per_rank=*/2, seed)),
        session(std::move(*fabric.endpoint(0)), geometry, lock, {}) {}
  fabric::Address line_of(std::string_view key) {
    return geometry.bucket(session.owner_of(key), geometry.bucket_of(geometry.hash_of(key)));
  }
  /// Sets the version of a line, and returns what it was.
  std::uint64_t set_line_version(std::string_view key, std::uint64_t version) {
    auto& ep = session.endpoint();
    const fabric::Address at = line_of(key);
    const std::uint64_t word = ep.load(fabric::rma, at);
    ep.store(fabric::rma, at, (word & store::EntryWord::kOffsetMask) | version << 40);
    return word >> 40;
  }

  store::Geometry geometry;
  locks::StripeLock lock;
  conformance::DeferredFabric fabric;
  LazySession session;
};

/// Random operations, and how often each key has changed.
class Changes {
 public:
  Changes(LazySession& session, std::uint64_t seed) : s_(session), rng_(seed) {
    for (int i = 0; i < 12; ++i) keys_.push_back(named(i % 2 == 0 ? "k" : "a key of the heap ", i));
    for (const auto& key : keys_) present_[key] = changes_[key] = 0;
  }

  void act() {
    const std::string& key = keys_[rng_.below(keys_.size())];
    const std::vector<std::string_view> both = {key, keys_[rng_.below(keys_.size())]};
    const auto two = std::span(both).first(both[0] == both[1] ? 1 : 2);
    switch (rng_.below(11)) {
      case 10: return overwrite(key);
      case 0: return put(key, rng_.below(9));
      case 1: return put(key, 20 + rng_.below(100));
      case 2: return put(key, 20'000);
      case 3: return append(key);
      case 4: return erase(key);
      case 5: return expire(key);
      case 6: return replace(two);
      case 7: return swept(key);
      case 8: return rng_.below(20) == 0 ? clear() : erase(key);
      default: return look(two);
    }
  }

  /// A version that was seen before was seen when the key had changed as often.
  void check() {
    for (const auto& key : keys_) {
      const auto version = s_.version_of(key);
      REQUIRE(version.ok());
      CHECK(version->there == (present_[key] == 1));
      const auto [at, fresh] = seen_[key].emplace(words_of(*version), changes_[key]);
      CAPTURE(key, version->epoch, version->line_version, version->element_version);
      REQUIRE(at->second == changes_[key]);
    }
  }

 private:
  void changed(std::string_view key, bool present) {
    ++changes_[std::string(key)];
    present_[std::string(key)] = present ? 1 : 0;
  }
  void put(const std::string& key, std::size_t bytes) {
    REQUIRE(s_.put(key, pattern(bytes, rng_.below(100)), {}).ok());
    changed(key, true);
  }
  void append(const std::string& key) {
    REQUIRE(s_.append(key, "x").ok());
    changed(key, true);
  }
  void overwrite(const std::string& key) {
    const std::uint64_t offset = rng_.below(2) == 0 ? rng_.below(200) : rng_.below(33'000);
    REQUIRE(s_.set_range(key, offset, "some", store::PutIf::kAlways).ok());
    changed(key, true);
  }
  void erase(const std::string& key) {
    if (s_.erase(key).ok()) changed(key, false);
  }
  void expire(const std::string& key) {
    if (s_.set_expiry(key, wall_ms() + 1'000'000).ok()) changed(key, true);
  }
  void replace(std::span<const std::string_view> keys) {
    REQUIRE(s_.modify_all(keys,
                          [](std::span<store::ElementDraft> drafts) {
                            for (auto& draft : drafts) draft.write("some", store::kNoExpiry);
                            return true;
                          },
                          {})
                .ok());
    for (const auto key : keys) changed(key, true);
  }
  /// Comes, is past its time at once, and is swept: absent again, and yet changed.
  void swept(const std::string& key) {
    REQUIRE(s_.put(key, "v", {.expires_at_ms = 1}).ok());
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) REQUIRE(s_.sweep_expired(rank).ok());
    changed(key, false);
  }
  void clear() {
    REQUIRE(s_.clear().ok());
    for (const auto& key : keys_) {
      if (present_[key] == 1) changed(key, false);
    }
  }
  /// Operations that only read, or are refused, leave every version unchanged.
  void look(std::span<const std::string_view> keys) {
    std::vector<Words> before;
    for (const auto& key : keys_) before.push_back(words_of(*s_.version_of(key)));
    std::string value;
    (void)s_.get(keys[0], value);
    (void)s_.put(keys[0], "v",
                 {.when = present_[std::string(keys[0])] == 1 ? store::PutIf::kAbsent
                                                              : store::PutIf::kPresent});
    (void)s_.compare_and_set(keys[0], "what it is not", "v");
    REQUIRE(s_.transact(keys, [](auto) { return true; }).ok());
    REQUIRE(s_.modify_all(keys, [](auto) { return true; }, {.reads_only = true}).ok());
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      CHECK(words_of(*s_.version_of(keys_[i])) == before[i]);
    }
  }

  LazySession& s_;
  Rng rng_;
  std::vector<std::string> keys_;
  std::map<std::string, std::uint64_t> changes_, present_;
  std::map<std::string, std::map<Words, std::uint64_t>> seen_;
};

}  // namespace

TEST_CASE("versions: a key that has changed never has an old version again") {  // K6
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    Fixture fixture(seed);
    Changes changes(fixture.session, seed);
    for (int i = 0; i < 500; ++i) {
      changes.act();
      changes.check();
    }
    check_volumes(fixture.session, kRanks);
  }
}

TEST_CASE("versions: more rewrites in place than an element's version can count") {  // K6
  Fixture fixture(1);
  for (const std::string_view key : {"a key of the heap 1", "a key of the heap 2", "and a third"}) {
    CAPTURE(key, fixture.session.owner_of(key));
    std::set<Words> seen;
    for (int i = 0; i < 70'000; ++i) {
      REQUIRE(fixture.session.put(key, "a value of twenty b.", {}).ok());
      if (!seen.insert(words_of(*fixture.session.version_of(key))).second) FAIL(i);
    }
  }
}

TEST_CASE("versions: more changes than the version of a line can count") {  // K6
  Fixture fixture(2);
  for (const std::string_view key : {"a", "b", "c", "d", "e", "f"}) {
    CAPTURE(key, fixture.session.owner_of(key));
    REQUIRE(fixture.session.put(key, "1", {}).ok());
    const Words before = words_of(*fixture.session.version_of(key));
    // 2^24 changes later.
    const auto version = fixture.set_line_version(key, store::Bucket::kMaxVersion);
    REQUIRE(fixture.session.put(key, "1", {}).ok());
    CHECK(fixture.set_line_version(key, version) == 0);
    CHECK(words_of(*fixture.session.version_of(key)) != before);
  }
}

TEST_CASE("versions: removing what was past already leaves the version of a key as it was") {
  Fixture fixture(4);
  for (const std::string_view key : {"a", "b", "c", "a key of the heap 1", "a key of the heap 2"}) {
    CAPTURE(key, fixture.session.owner_of(key));
    REQUIRE(fixture.session.put(key, "v", {.expires_at_ms = 1}).ok());
    const auto version = fixture.session.version_of(key);
    REQUIRE(version.ok());
    CHECK_FALSE(version->there);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      REQUIRE(fixture.session.sweep_expired(rank).ok());
    }
    CHECK(words_of(*fixture.session.version_of(key)) == words_of(*version));
  }
  check_volumes(fixture.session, kRanks);
}

TEST_CASE("versions: modify_all is refused when a key has changed since, and only then") {
  Fixture fixture(3);
  LazySession& s = fixture.session;
  const std::vector<std::string_view> keys = {"watched", "a watched one in the heap", "absent",
                                              "written"};
  REQUIRE(s.put(keys[0], "1", {}).ok());
  REQUIRE(s.put(keys[1], "2", {}).ok());
  const auto versions_now = [&] {
    std::vector<KeyVersion> versions;
    for (const auto key : std::span(keys).first(3)) versions.push_back(*s.version_of(key));
    return versions;
  };
  int calls = 0;
  const auto write = [&](std::span<store::ElementDraft> drafts) {
    drafts[3].write(std::to_string(++calls), store::kNoExpiry);
    return true;
  };
  REQUIRE(s.modify_all(keys, write, {.unchanged_since = versions_now()}).ok());
  CHECK(calls == 1);
  const std::vector<std::function<void()>> changes = {
      [&] { REQUIRE(s.put(keys[0], "1", {}).ok()); },
      [&] { REQUIRE(s.put(keys[1], "2", {}).ok()); },
      [&] { REQUIRE(s.set_expiry(keys[0], wall_ms() + 1'000'000).ok()); },
      [&] { REQUIRE((s.erase(keys[0]).ok() && s.put(keys[0], "1", {}).ok())); },
      [&] { REQUIRE((s.put(keys[2], "3", {}).ok() && s.erase(keys[2]).ok())); },
      [&] { REQUIRE(s.put(keys[2], "3", {}).ok()); },
      [&] { REQUIRE(s.clear().ok()); }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    CAPTURE(i);
    const auto versions = versions_now();
    changes[i]();
    CHECK(s.modify_all(keys, write, {.unchanged_since = versions}) == Code::kMismatch);
  }
  CHECK(calls == 1);
  std::string value;
  CHECK(s.get(keys[3], value) == Code::kNotFound);  // cleared, and not written since
}
