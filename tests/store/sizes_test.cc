// Sizes where something changes: inline or not, one class or the next, one chunk or a run, the
// bounds of keys and values.
#include "accounting.h"
#include "keyway/kvstore/layout/element.h"
#include "keyway/kvstore/layout/size_class.h"

using namespace keyway;
using namespace keyway::test;

namespace {

std::string key_of(std::size_t bytes, std::uint64_t seed) {
  std::string key = pattern(bytes, seed);
  return key.empty() ? key : (key[0] = static_cast<char>(bytes % 251), key);
}

}  // namespace

TEST_CASE("sizes: every split of 15 to 18 bytes into key and value") {
  Store store = open_local("local:?memory=4MiB&sessions=1");
  Session s = session_of(store);
  for (std::size_t total = 1; total <= 18; ++total) {
    for (std::size_t key = 1; key <= total; ++key) {
      CAPTURE(total, key);
      REQUIRE(s.put(key_of(key, total), pattern(total - key, key)).ok());
      REQUIRE(*s.get(key_of(key, total)) == pattern(total - key, key));
    }
  }
  check_heap(store, s);
}

TEST_CASE("sizes: an element of 16 bytes takes nothing of the heap, one of 17 does") {
  Store store = open_local("local:?memory=4MiB&sessions=1");
  Session s = session_of(store);
  REQUIRE(s.put("8 bytes.", "8 bytes.").ok());
  CHECK(s.inspector().report(0)->live_bytes == 0);
  REQUIRE(s.put("8 bytes.", "nine byte").ok());
  CHECK(s.inspector().report(0)->live_bytes >= 17);
  REQUIRE(s.put("8 bytes.", "").ok());  // and back again
  CHECK(s.inspector().report(0)->live_bytes == 0);
  CHECK(*s.size() == 1);
}

TEST_CASE("sizes: one value grows and shrinks through every border") {
  Store store = open_local("local:?memory=8MiB&sessions=1");
  Session s = session_of(store);
  std::vector<std::size_t> sizes;
  const std::string key = "the key";
  const std::uint64_t head = store::ElementFormat::kBareBytes + key.size();
  for (std::uint32_t c = 0; c < store::kClasses; ++c) {
    for (const std::uint64_t block :
         {store::class_bytes(c) - 1, store::class_bytes(c), store::class_bytes(c) + 1}) {
      if (block > head) sizes.push_back(block - head);
    }
  }
  for (std::uint64_t chunks = 1; chunks <= 3; ++chunks) {
    for (const std::int64_t step : {-1, 0, 1}) {
      sizes.push_back(chunks * store::kChunkBytes - head + static_cast<std::uint64_t>(step));
    }
  }
  sizes.insert(sizes.end(), {0, 9, 10, 1 << 20, 2 << 20});
  std::sort(sizes.begin(), sizes.end());
  const auto check = [&](std::size_t bytes) {
    CAPTURE(bytes);
    REQUIRE(s.put(key, pattern(bytes, bytes)).ok());
    REQUIRE(*s.get(key) == pattern(bytes, bytes));
  };
  for (const std::size_t bytes : sizes) check(bytes);
  for (auto it = sizes.rbegin(); it != sizes.rend(); ++it) check(*it);
  for (std::size_t i = 0; i < sizes.size(); ++i) check(sizes[i * 37 % sizes.size()]);
  CHECK(*s.size() == 1);
  check_heap(store, s);
}

TEST_CASE("sizes: the bytes of an expiry count at every border, as it comes, changes and goes") {
  constexpr std::uint64_t kFuture = 4'000'000'000'000;  // the year 2096
  Store store = open_local("local:?memory=8MiB&sessions=1");
  Session s = session_of(store);
  const std::string key = "the key";
  const std::uint64_t head = store::ElementFormat::kBareBytes + key.size();
  for (const std::uint64_t border :
       {store::class_bytes(20), store::class_bytes(60), store::kChunkBytes, 2 * store::kChunkBytes,
        3 * store::kChunkBytes}) {
    // The bytes of the expiry move the end of the element across the border.
    for (std::uint64_t below = 0; below <= store::kExpiryBytes + 1; ++below) {
      CAPTURE(border, below);
      const std::string value = pattern(border - head - below, below);
      for (const std::uint64_t at : {store::kNoExpiry, kFuture, kFuture + 1, store::kNoExpiry}) {
        REQUIRE(s.put(key, value, {.expires_at_ms = at}).ok());
        REQUIRE(*s.get(key) == value);
        check_heap(store, s);
      }
      REQUIRE(s.put(key, value, {.expires_at_ms = kFuture}).ok());
      REQUIRE(s.erase(key).ok());
      check_heap(store, s);
    }
  }
}

TEST_CASE("sizes: keys of 1 byte to 64 KiB, and none beyond") {
  Store store = open_local("local:?memory=8MiB&sessions=1");
  Session s = session_of(store);
  for (const std::size_t bytes : {1, 2, 15, 16, 17, 255, 256, 16383, 16384, 65535, 65536}) {
    CAPTURE(bytes);
    REQUIRE(s.put(key_of(bytes, 5), pattern(bytes % 100, 6)).ok());
    REQUIRE(*s.get(key_of(bytes, 5)) == pattern(bytes % 100, 6));
  }
  for (const std::string& key : {std::string(), key_of(65537, 5)}) {
    CHECK(s.put(key, "v") == Code::kInvalidArgument);
    CHECK(s.get(key).code() == Code::kInvalidArgument);
    CHECK(s.erase(key) == Code::kInvalidArgument);
    CHECK(s.info(key).code() == Code::kInvalidArgument);
    CHECK(s.increment(key).code() == Code::kInvalidArgument);
    CHECK(s.append(key, "x").code() == Code::kInvalidArgument);
    CHECK(s.persist(key) == Code::kInvalidArgument);
    CHECK(s.scan_from(key, 1, [](auto, auto) {}).code() == Code::kInvalidArgument);
    const std::vector<std::string_view> keys = {"good", key};
    CHECK(s.get_all(keys).code() == Code::kInvalidArgument);
    CHECK(s.erase_all(keys).code() == Code::kInvalidArgument);
    CHECK(s.transact(keys, [](auto) { return true; }) == Code::kInvalidArgument);
    const std::vector<KeyValue> pairs = {{"good", "v"}, {key, "v"}};
    CHECK(s.put_all(pairs) == Code::kInvalidArgument);
    CHECK(s.get("good").code() == Code::kNotFound);  // nothing was done by halves
    std::vector<std::string> out(2);
    std::vector<Code> codes(2);
    s.get_many(keys, out, codes);
    CHECK(codes == std::vector<Code>{Code::kNotFound, Code::kInvalidArgument});
    const std::string message(s.put(key, "v").message());
    CHECK(message.find("it must have 1 to 65536") != std::string::npos);
  }
  check_heap(store, s);
}

TEST_CASE("sizes: a value above 512 MiB is refused before a byte of it is read") {
  Store store = open_local("local:?memory=4MiB&sessions=1");
  Session s = session_of(store);
  REQUIRE(s.put("there", "v").ok());
  // Nothing of these bytes may be touched: they are not there.
  const char one = 'x';
  const std::string_view too_long(&one, (512ULL << 20) + 1);
  CHECK(s.put("k", too_long) == Code::kInvalidArgument);
  CHECK(s.put("there", too_long) == Code::kInvalidArgument);
  CHECK(s.insert("k", too_long) == Code::kInvalidArgument);
  CHECK(s.compare_and_set("there", "v", too_long) == Code::kInvalidArgument);
  const std::vector<KeyValue> pairs = {{"other", "v"}, {"k", too_long}};
  CHECK(s.put_all(pairs) == Code::kInvalidArgument);
  for (const std::uint64_t offset : {512ULL << 20, ~0ULL}) {  // the last one's sum wraps around
    CHECK(s.set_range("there", offset, "x").code() == Code::kInvalidArgument);
    const auto decide = [&](const ElementPart*) {
      return Decision::overwrite(offset, "x", store::kNoExpiry);
    };
    CHECK(s.modify_part("there", {}, decide) == Code::kInvalidArgument);
    CHECK(s.modify_part("k", {}, decide) == Code::kInvalidArgument);
  }
  CHECK(*s.get("there") == "v");
  CHECK(*s.size() == 1);
  // 512 MiB are legal, but more than this heap can hold: another answer.
  CHECK(s.put("k", std::string_view(&one, 512ULL << 20)) == Code::kOutOfSpace);
  check_heap(store, s);
}
