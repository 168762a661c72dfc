// Differences between a Redis cluster and one server: only keys of one slot can be combined.
#include <set>
#include <string>
#include <vector>

#include "tests/store/accounting.h"

using namespace keyway;
using namespace keyway::test;

namespace {

constexpr int kKeys = 100;  // far more than there are servers

}  // namespace

TEST_CASE("cluster: keys lie on several servers, and all are found", "[cluster]") {
  Store store = open_local("redis:");
  REQUIRE(store.ranks() > 1);
  Session s = session_of(store);
  for (int i = 0; i < kKeys; ++i) REQUIRE(s.put(named("key", i), named("value", i)).ok());
  CHECK(*s.size() == kKeys);
  std::set<std::uint32_t> owners;
  std::set<std::string> shown;
  for (int i = 0; i < kKeys; ++i) owners.insert(store.owner_of(named("key", i)));
  CHECK(owners.size() == store.ranks());
  std::uint64_t cursor = 0;
  do {
    const auto next = s.scan(cursor, 7, [&](auto key, auto) { shown.emplace(key); });
    REQUIRE(next.ok());
    cursor = *next;
  } while (cursor != 0);
  CHECK(shown.size() == kKeys);
}

TEST_CASE("cluster: several keys go together where they have one tag", "[cluster]") {
  Store store = open_local("redis:");
  Session s = session_of(store);
  const std::vector<KeyValue> tagged = {{"{tag}a", "1"}, {"{tag}b", "2"}};
  REQUIRE(s.put_all(tagged).ok());
  CHECK(s.get("{tag}b").value() == "2");
  const std::vector<std::string_view> keys = {"{tag}a", "{tag}b"};
  CHECK(s.erase_all(keys).value() == 2);
}

TEST_CASE("cluster: several keys of several slots are refused, and nothing is written",
          "[cluster]") {
  Store store = open_local("redis:");
  Session s = session_of(store);
  const Status refused = s.put_all(std::vector<KeyValue>{{"a", "1"}, {"b", "2"}});
  CHECK(refused.code() == Code::kUnsupported);
  CHECK_THAT(std::string(refused.message()), Catch::Contains("tag"));
  CHECK(*s.size() == 0);
}
