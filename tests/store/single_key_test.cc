// Each operation on one key, with each of its answers; on one rank and on four.
#include <functional>
#include <limits>

#include "accounting.h"
#include "keyway/locks/base/clock.h"

using namespace keyway;
using namespace keyway::test;

namespace {

// A short value is inline, a long one in the heap; keys on every rank.
struct Each {
  std::string key;
  std::string value;
  std::string other;
};

std::vector<Each> cases() {
  std::vector<Each> all;
  for (int i = 0; i < 8; ++i) {
    all.push_back({named("k", i), "v", "w"});
    all.push_back({named("a key that is not inline ", i), pattern(300, 1), pattern(900, 2)});
    all.push_back({named("g", i), "v", pattern(40'000, 3)});
  }
  return all;
}

void for_each_case(const std::function<void(Session&, const Each&)>& body) {
  for (const char* uri :
       {"local:?memory=8MiB&sessions=2", "local:?memory=4MiB&sessions=2&ranks=4"}) {
    Store store = open_local(uri);
    Session session = session_of(store);
    for (const Each& each : cases()) {
      CAPTURE(uri, each.key);
      body(session, each);
    }
    check_heap(store, session);
    REQUIRE(session.clear().ok());
    CHECK(*session.size() == 0);
    check_heap(store, session);
  }
}

}  // namespace

TEST_CASE("store: get, put, insert, update, erase and their answers") {
  for_each_case([](Session& s, const Each& e) {
    std::string out = "untouched";
    CHECK(s.get(e.key, out) == Code::kNotFound);
    CHECK(out == "untouched");
    CHECK(s.get(e.key).code() == Code::kNotFound);
    CHECK(s.update(e.key, e.value) == Code::kNotFound);
    CHECK(s.erase(e.key) == Code::kNotFound);
    CHECK(s.put(e.key, e.value, {.when = PutIf::kPresent}) == Code::kNotFound);
    CHECK(s.put(e.key, e.value).ok());
    CHECK(*s.get(e.key) == e.value);
    CHECK(s.insert(e.key, e.other) == Code::kExists);
    CHECK(*s.get(e.key) == e.value);
    CHECK(s.update(e.key, e.other).ok());
    CHECK(*s.get(e.key) == e.other);
    CHECK(s.put(e.key, e.value, {.when = PutIf::kPresent}).ok());
    CHECK(*s.get(e.key) == e.value);
    CHECK(s.erase(e.key).ok());
    CHECK(s.get(e.key).code() == Code::kNotFound);
    CHECK(s.insert(e.key, e.other).ok());
    CHECK(*s.get(e.key) == e.other);
  });
}

TEST_CASE("store: compare-and-set") {
  for_each_case([](Session& s, const Each& e) {
    CHECK(s.compare_and_set(e.key, e.value, e.other) == Code::kNotFound);
    CHECK(s.put(e.key, e.value).ok());
    CHECK(s.compare_and_set(e.key, e.other, e.other) == Code::kMismatch);
    CHECK(s.compare_and_set(e.key, "", e.other) == Code::kMismatch);
    CHECK(*s.get(e.key) == e.value);
    CHECK(s.compare_and_set(e.key, e.value, e.other).ok());
    CHECK(*s.get(e.key) == e.other);
    CHECK(s.compare_and_set(e.key, e.other, "").ok());
    CHECK(s.compare_and_set(e.key, "", e.value).ok());
    CHECK(*s.get(e.key) == e.value);
  });
}

TEST_CASE("store: a reader is shown the element, or is not called") {
  for_each_case([](Session& s, const Each& e) {
    int calls = 0;
    std::string value;
    std::uint64_t expires_at_ms = 1;
    const auto reader = [&](const ElementState& element) {
      ++calls;
      value = element.value;
      expires_at_ms = element.expires_at_ms;
    };
    CHECK(s.read(e.key, reader) == Code::kNotFound);
    CHECK(calls == 0);
    CHECK(s.put(e.key, e.value).ok());
    CHECK(s.read(e.key, reader).ok());
    CHECK(value == e.value);
    CHECK(expires_at_ms == store::kNoExpiry);
    const std::uint64_t later = wall_ms() + 1'000'000;
    CHECK(s.put(e.key, e.other, {.expires_at_ms = later}).ok());
    CHECK(s.read(e.key, reader).ok());
    CHECK(value == e.other);
    CHECK(expires_at_ms == later);
    CHECK(calls == 2);
  });
}

TEST_CASE("store: modify shows what is there, and does what it is told") {
  for_each_case([](Session& s, const Each& e) {
    CHECK(s.modify(e.key, [](const ElementState* old) {
      return old == nullptr ? Decision::fail(Code::kNotFound) : Decision::erase();
    }) == Code::kNotFound);
    CHECK(s.modify(e.key, [&](const ElementState* old) {
             CHECK(old == nullptr);
             return Decision::write(e.value, store::kNoExpiry);
           }).ok());
    const std::uint64_t later = wall_ms() + 1'000'000;
    CHECK(s.modify(e.key, [&](const ElementState* old) {
             REQUIRE(old != nullptr);
             CHECK(old->value == e.value);
             CHECK(old->expires_at_ms == store::kNoExpiry);
             return Decision::write(e.other, later);
           }).ok());
    CHECK(*s.get(e.key) == e.other);
    CHECK(s.info(e.key)->expires_at_ms == later);
    CHECK(s.modify(e.key, [](const ElementState*) { return Decision(); }).ok());
    CHECK(*s.get(e.key) == e.other);
    CHECK(s.modify(e.key, [](const ElementState*) { return Decision::erase(); }).ok());
    CHECK(s.get(e.key).code() == Code::kNotFound);
  });
}

TEST_CASE("store: increment") {
  for_each_case([](Session& s, const Each& e) {
    CHECK(*s.increment(e.key) == 1);
    CHECK(*s.increment(e.key, 41) == 42);
    CHECK(*s.increment(e.key, -100) == -58);
    CHECK(*s.get(e.key) == "-58");
    CHECK(s.put(e.key, "9223372036854775806").ok());
    CHECK(*s.increment(e.key) == std::numeric_limits<std::int64_t>::max());
    CHECK(s.increment(e.key).code() == Code::kOverflow);
    CHECK(*s.get(e.key) == "9223372036854775807");
    CHECK(s.increment(e.key, std::numeric_limits<std::int64_t>::min()).ok());
    CHECK(*s.increment(e.key, 1) == 0);
    for (const char* bad :
         {"", " 1", "1 ", "+1", "0x1", "1.0", "one", "9223372036854775808", "-", "007", "-0"}) {
      CAPTURE(bad);
      CHECK(s.put(e.key, bad).ok());
      CHECK(s.increment(e.key).code() == Code::kNotANumber);
      CHECK(*s.get(e.key) == bad);
    }
  });
}

TEST_CASE("store: append and set_range") {
  for_each_case([](Session& s, const Each& e) {
    CHECK(*s.append(e.key, "") == 0);  // creates an empty value
    CHECK(s.get(e.key)->empty());
    CHECK(*s.append(e.key, e.value) == e.value.size());
    CHECK(*s.append(e.key, e.other) == e.value.size() + e.other.size());
    CHECK(*s.get(e.key) == e.value + e.other);
    CHECK(*s.set_range(e.key, 0, "Z") == e.value.size() + e.other.size());
    CHECK(s.get(e.key)->front() == 'Z');
    CHECK(s.erase(e.key).ok());
    CHECK(s.set_range(e.key, 3, "abc", PutIf::kPresent).code() == Code::kNotFound);
    CHECK(*s.set_range(e.key, 3, "abc") == 6);
    CHECK(*s.get(e.key) == std::string("\0\0\0abc", 6));
    CHECK(s.set_range(e.key, 3, "abc", PutIf::kAbsent).code() == Code::kExists);
    CHECK(*s.set_range(e.key, 5, "XYZ", PutIf::kPresent) == 8);
    CHECK(*s.get(e.key) == std::string("\0\0\0abXYZ", 8));
    CHECK(*s.set_range(e.key, 30'000, "end") == 30'003);
    CHECK(s.get(e.key)->substr(29'999) == std::string("\0end", 4));
    CHECK(s.set_range(e.key, 512ULL << 20, "x").code() == Code::kInvalidArgument);
    CHECK(s.set_range(e.key, ~0ULL, "x").code() == Code::kInvalidArgument);
    CHECK(s.get(e.key)->size() == 30'003);
  });
}

TEST_CASE("store: parts of a value, and what is known of it") {
  for_each_case([](Session& s, const Each& e) {
    std::string out;
    CHECK(s.get_range(e.key, 0, 1, out) == Code::kNotFound);
    CHECK(s.info(e.key).code() == Code::kNotFound);
    CHECK(s.put(e.key, e.other).ok());
    const auto size = e.other.size();
    const auto part = [&](std::uint64_t offset, std::uint64_t length) {
      CHECK(s.get_range(e.key, offset, length, out).ok());
      return out;
    };
    CHECK(part(0, size) == e.other);
    CHECK(part(0, ~0ULL) == e.other);
    CHECK(part(size / 2, 3) == e.other.substr(size / 2, 3));
    CHECK(part(size - 1, 100) == e.other.substr(size - 1));
    CHECK(part(size, 1).empty());
    CHECK(part(~0ULL, ~0ULL).empty());
    CHECK(part(0, 0).empty());
    CHECK(s.info(e.key)->value_bytes == size);
    CHECK(s.info(e.key)->expires_at_ms == store::kNoExpiry);
  });
}

TEST_CASE("store: a rank's keys are found from every rank's session", "[memory]") {
  Store store = open_local("local:?memory=4MiB&ranks=4&sessions=2");
  std::vector<Session> sessions;
  for (std::uint32_t rank = 0; rank < 4; ++rank) sessions.push_back(*store.session_at(rank));
  std::vector<int> owned(4);
  for (int i = 0; i < 200; ++i) {
    const std::string key = named("key ", i);
    ++owned[store.owner_of(key)];
    REQUIRE(sessions[i % 4].put(key, pattern(50, i)).ok());
    for (Session& s : sessions) REQUIRE(*s.get(key) == pattern(50, i));
    REQUIRE(sessions[(i + 1) % 4].erase(key).ok());
    for (Session& s : sessions) REQUIRE(s.get(key).code() == Code::kNotFound);
  }
  for (const int n : owned) CHECK(n > 20);  // 50 expected
}
