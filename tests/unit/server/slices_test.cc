// Long commands yield between parts of their work.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/fabric/time_slice.h"
#include "keyway/server/commands/keys/glob.h"
#include "tests/support/turns.h"
#include "tests/unit/server/peer.h"

namespace keyway::server {
namespace {

using test::turns_of;

std::size_t turns_of(Peer& peer, const std::string& request) {
  std::string reply;
  const std::size_t turns = turns_of([&] { reply = peer.ask(request); });
  INFO(request << " answers " << reply.substr(0, 80));
  CHECK(reply[0] != '-');
  return turns;
}

constexpr std::size_t kParts = 20;
constexpr std::size_t kLong = kParts * fabric::kSliceBytes;

TEST_CASE("slices: work on a long value is done in parts") {
  auto store = Store::open("local:?memory=64MiB");
  REQUIRE(store.ok());
  Peer peer(*store);
  REQUIRE(peer.ask(fmt::format("setrange long {} x", kLong - 1)) == fmt::format(":{}\r\n", kLong));
  for (const char* request :
       {"bitcount long", "bitcount long 1 -2", "bitpos long 1 0 -2", "bitop not to long",
        "bitop or to long short", "bitop xor to short long", "get long", "getrange long 0 -1",
        "getrange long 1 2000000", "mget short long", "getset long x"}) {
    CHECK(turns_of(peer, request) >= kParts - 1);
  }
  CHECK(turns_of(peer, "set short value") == 0);
  CHECK(turns_of(peer, "get short") == 0);
  CHECK(turns_of(peer, "getrange long 5 9") == 0);
}

/// Each time that a command copies, fills or sums up a value of kLong bytes.
constexpr std::size_t kOfEachCopy = kParts - 1;

TEST_CASE("slices: copies of a long value are made in parts, each of them") {
  auto store = Store::open("local:?memory=64MiB");
  REQUIRE(store.ok());
  Peer peer(*store);
  const std::string value(kLong, 'v');
  const auto copies = [&](const std::string& request) {
    peer.ask({"set", "long", value});
    peer.ask("del new");
    return turns_of(peer, request) / kOfEachCopy;
  };
  const auto copies_of = [&](std::vector<std::string_view> words) {
    return turns_of([&] { CHECK(peer.ask(words)[0] != '-'); }) / kOfEachCopy;
  };
  // The element; with an old value, the copy of that and the reply.
  CHECK(copies_of({"set", "new", value}) >= 1);
  CHECK(copies_of({"set", "new", value}) >= 1);
  CHECK(copies_of({"mset", "new", value, "newer", value}) >= 2);
  CHECK(copies_of({"set", "new", value, "get"}) >= 3);
  CHECK(copies("set long x get") >= 2);
  CHECK(copies("getset long x") >= 2);
  CHECK(copies("getdel long") >= 2);
  CHECK(copies("getex long ex 1000") >= 2);
  // The draft, the other draft, and the element.
  CHECK(copies("copy long new") >= 3);
  CHECK(copies("rename long new") >= 3);
  // The value.
  CHECK(copies("lcs long nowhere len") >= 1);
}

TEST_CASE("slices: a long value grows in parts: its copy, the zeros and the bytes behind it") {
  auto store = Store::open("local:?memory=64MiB");
  REQUIRE(store.ok());
  Peer peer(*store);
  const std::string value(kLong, 'v');
  const auto grow = [&](std::vector<std::string_view> words, std::size_t parts) {
    std::string reply;
    const std::size_t turns = turns_of([&] { reply = peer.ask(words); });
    INFO(words[0] << " answers " << reply);
    CHECK(turns >= parts - 4);  // at most four loops, each with a turn less than it has parts
  };
  const std::string last = std::to_string(kLong - 1);
  const std::string last_bit = std::to_string(8 * kLong - 1);
  grow({"setrange", "zeros", last, "x"}, 2 * kParts);     // zeros, element
  grow({"setbit", "bits", last_bit, "1"}, 2 * kParts);    // zeros, element
  grow({"append", "bits", value}, (1 + 1 + 2) * kParts);  // copy, bytes, element
  const std::string far = std::to_string(2 * kLong);
  grow({"setrange", "zeros", far, value}, (1 + 1 + 1 + 3) * kParts);  // as APPEND, and zeros
  CHECK(peer.ask("strlen zeros") == fmt::format(":{}\r\n", 3 * kLong));
  CHECK(peer.ask("getrange zeros -2 -1") == "$2\r\nvv\r\n");
  CHECK(peer.ask("bitcount bits 0 " + last) == ":1\r\n");
}

TEST_CASE("slices: a long value grows in its block in parts") {
  auto store = Store::open("local:?memory=64MiB");
  REQUIRE(store.ok());
  Peer peer(*store);
  constexpr std::size_t kBytes = 9 * kLong;
  peer.ask(fmt::format("setrange long {} x", kBytes - 1));
  peer.ask({"append", "long", std::string(fabric::kSliceBytes * 2, 'y')});  // gets spare room
  const std::size_t far = kBytes + kLong;
  // The window, its zeros, and the element. APPEND has written some of the kLong bytes.
  CHECK(turns_of(peer, fmt::format("setrange long {} z", far)) >= 3 * (kParts - 4));
  CHECK(turns_of(peer, fmt::format("setrange long {} z", far)) == 0);
  const std::string value(kLong, 'v');  // and with the bytes that were there before
  CHECK(turns_of([&] { peer.ask({"setrange", "long", "0", value}); }) >= 4 * (kParts - 4));
  CHECK(peer.ask(fmt::format("getrange long {} -1", far - 1)) == std::string("$2\r\n\0z\r\n", 8));
}

TEST_CASE("slices: long values in a transaction are copied in parts") {
  auto store = Store::open("local:?memory=64MiB");
  REQUIRE(store.ok());
  Peer peer(*store);
  const std::string value(kLong, 'v');
  const auto copies = [&](std::vector<std::string_view> words) {
    peer.ask({"set", "long", value});
    peer.ask("del new");
    peer.ask("multi");
    REQUIRE(peer.ask(words) == "+QUEUED\r\n");
    return turns_of(peer, "exec") / kOfEachCopy;
  };
  const std::string last = std::to_string(kLong - 1);
  CHECK(copies({"set", "new", value}) >= 2);           // draft, element
  CHECK(copies({"setrange", "new", last, "x"}) >= 2);  // zeros, element
  CHECK(copies({"append", "long", value}) >= 5);       // draft, its growth, suffix, element of two
  CHECK(copies({"rename", "long", "new"}) >= 5);       // draft, two more to each, element
}

TEST_CASE("slices: BITOP looks at a value once, however often it is named") {
  auto store = Store::open("local:?memory=64MiB");
  REQUIRE(store.ok());
  Peer peer(*store);
  peer.ask(fmt::format("setrange long {} x", kLong - 1));
  std::string names;
  for (int i = 0; i < 999; ++i) names += " long";
  for (const std::string operation : {"and", "or", "xor"}) {
    peer.ask("set to x");
    const std::size_t once = turns_of(peer, "bitop " + operation + " to long");
    peer.ask("set to x");
    CHECK(turns_of(peer, "bitop " + operation + " to" + names) == once);
    CHECK(peer.ask("bitcount to") == peer.ask("bitcount long"));
  }
  CHECK(peer.ask("bitop xor to" + names + " long") == fmt::format(":{}\r\n", kLong));
  CHECK(peer.ask("bitcount to") == ":0\r\n");
  CHECK(peer.ask("bitop and to long nowhere") == fmt::format(":{}\r\n", kLong));
  CHECK(peer.ask("bitcount to") == ":0\r\n");
}

TEST_CASE("slices: LCS gives turns while it fills its rows, and while it walks back") {
  auto store = Store::open("local:?memory=64MiB");
  REQUIRE(store.ok());
  Peer peer(*store);
  for (const char* key : {"a", "b"}) {
    std::string value;
    for (int i = 0; i < 8000; ++i) value += static_cast<char>('a' + (i * i + key[0]) % 7);
    peer.ask({"set", key, value});
  }
  const std::size_t rows = turns_of(peer, "lcs a b len");
  CHECK(rows >= 100);
  CHECK(turns_of(peer, "lcs a b") > rows);
}

TEST_CASE("slices: work on many keys is done in parts") {
  auto store = Store::open("local:?memory=64MiB");
  REQUIRE(store.ok());
  Peer peer(*store);
  constexpr std::size_t kKeys = 1000;
  constexpr std::size_t kTurns = kKeys / fabric::kSliceKeys - 1;
  std::string pairs, keys;
  for (std::size_t i = 0; i < kKeys; ++i) {
    pairs += fmt::format(" key:{} v", i);
    keys += fmt::format(" key:{}", i);
  }
  CHECK(turns_of(peer, "mset" + pairs) >= kTurns);
  CHECK(turns_of(peer, "mget" + keys) >= kTurns);
  CHECK(turns_of(peer, "exists" + keys) >= kTurns);
  CHECK(turns_of(peer, "keys *") >= kTurns);
  CHECK(turns_of(peer, "scan 0 count 100000") >= kTurns);
  CHECK(turns_of(peer, "del" + keys) >= kTurns);
  CHECK(turns_of(peer, "flushall") >= kTurns);
  CHECK(turns_of(peer, "mget key:1 key:2") == 0);
}

constexpr std::size_t kStepsOfSlice = fabric::kSliceBytes / fabric::kSliceKeys;

TEST_CASE("slices: a long match of a pattern is done in parts, wherever its steps are") {
  const auto turns = [](std::string_view pattern, std::string_view text, bool fits) {
    return turns_of([&] { CHECK(glob_match(pattern, text) == fits); });
  };
  const std::string text(1000, 'a');
  const std::string stars(kLong, '*');
  const std::string many_tried = "*" + std::string(500, 'a') + "b";
  const std::string class_of_many = "[" + std::string(kLong, 'b') + "]";
  CHECK(turns(stars, text, true) >= kLong / kStepsOfSlice - 1);
  CHECK(turns(many_tried, text, false) >= 500 * 500 / kStepsOfSlice - 1);
  CHECK(turns(class_of_many, "a", false) >= kLong / kStepsOfSlice - 1);
  CHECK(turns("*a?[a-c]*", text, true) == 0);
}

TEST_CASE(
    "slices: commands with patterns give turns, for many patterns or names as for long ones") {
  auto store = Store::open("local:?memory=64MiB&stripes=1");
  REQUIRE(store.ok());
  Peer peer(*store);
  constexpr std::size_t kKeys = 1000;
  for (std::size_t i = 0; i < kKeys; ++i) peer.ask(fmt::format("set {} v", i));
  constexpr std::size_t kTurns = kKeys / fabric::kSliceKeys - 1;
  // One match alone is too short for a turn.
  const std::string pattern = "[" + std::string(kStepsOfSlice / 2, 'x') + "]";
  CHECK(turns_of(peer, "keys " + pattern) >= kTurns);
  CHECK(turns_of(peer, "scan 0 count 1000 match " + pattern) >= kTurns);
  std::string patterns;
  for (std::size_t i = 0; i < kKeys; ++i) patterns += " x" + std::to_string(i);
  CHECK(turns_of(peer, "config get" + patterns) >= kTurns);
  CHECK(turns_of(peer, "command list filterby pattern " + pattern) >= 100 / fabric::kSliceKeys);
}

TEST_CASE("slices: a transaction gives turns between its commands") {
  auto store = Store::open("local:?memory=16MiB");
  REQUIRE(store.ok());
  Peer peer(*store);
  peer.ask("multi");
  for (int i = 0; i < 100; ++i) peer.ask("incr n");
  CHECK(turns_of(peer, "exec") >= 99);
  CHECK(peer.ask("get n") == "$3\r\n100\r\n");
}

TEST_CASE("slices: the sweep gives turns between stripes") {
  auto store = Store::open("local:?memory=16MiB&stripes=64");
  REQUIRE(store.ok());
  Peer peer(*store);
  const std::size_t stripes = peer.session().inspector().usage(0).stripes;
  REQUIRE(stripes > 30);
  const std::size_t keys = 40 * stripes;
  for (std::size_t i = 0; i < keys; ++i) peer.ask(fmt::format("set key{} v pxat 1", i));
  REQUIRE(*peer.session().size() == keys);
  const auto sweep = [&] {
    CHECK(peer.session().inspector().sweep_part(0, 0, 1 << 30)->removed == keys);
  };
  CHECK(turns_of(sweep) >= stripes - 1);
}

/// The answer of Redis, by its table.
std::string lcs_of(std::string_view a, std::string_view b) {
  std::vector<std::vector<int>> table(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1
                                         : std::max(table[i - 1][j], table[i][j - 1]);
    }
  }
  std::string found;
  for (std::size_t i = a.size(), j = b.size(); i > 0 && j > 0;) {
    if (a[i - 1] == b[j - 1]) {
      found.insert(found.begin(), a[--i]);
      --j;
    } else if (table[i - 1][j] > table[i][j - 1]) {
      --i;
    } else {
      --j;
    }
  }
  return found;
}

TEST_CASE("slices: LCS takes the path of Redis, whichever value is the longer") {
  Store store = small_store();
  Peer peer(store);
  std::uint64_t state = 1;
  const auto draw = [&](std::uint64_t below) { return splitmix64(state) % below; };
  for (int round = 0; round < 400; ++round) {
    std::string values[2];
    for (std::string& value : values) {
      value.resize(1 + draw(200));
      for (char& c : value) c = static_cast<char>('a' + draw(1 + round % 5));
    }
    peer.ask({"mset", "a", values[0], "b", values[1]});
    const std::string expected = lcs_of(values[0], values[1]);
    INFO(values[0] << " and " << values[1]);
    CHECK(peer.ask("lcs a b") == fmt::format("${}\r\n{}\r\n", expected.size(), expected));
    CHECK(peer.ask("lcs a b len") == fmt::format(":{}\r\n", expected.size()));
  }
}

}  // namespace
}  // namespace keyway::server
