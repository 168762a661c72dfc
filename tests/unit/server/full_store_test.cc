// A store that is full: Redis' error, nothing changed, and mutators that run twice.
#include <catch2/catch.hpp>
#include <string>

#include "keyway/locks/base/rng.h"
#include "tests/unit/server/peer.h"

namespace keyway::server {
namespace {

const std::string kFull = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";

/// Writes values until the store is full.
void fill_store(Peer& peer) {
  const std::string value(50'000, 'v');
  int i = 0;
  while (peer.ask({"set", "fill" + std::to_string(i), value}) == "+OK\r\n") ++i;
  REQUIRE(i > 50);
  const std::string small(100, 'v');
  while (peer.ask({"set", "fill" + std::to_string(i), small}) == "+OK\r\n") ++i;
}

TEST_CASE("full store: writes that need room fail and change nothing, all else goes on") {
  Store store = small_store();
  Peer peer(store);
  REQUIRE(peer.ask("set k abc") == "+OK\r\n");
  REQUIRE(peer.ask("set t abc pxat 4000000000000") == "+OK\r\n");
  fill_store(peer);
  const std::string big(50'000, 'x');
  for (const std::vector<std::string_view>& request :
       std::vector<std::vector<std::string_view>>{{"set", "k", big},
                                                  {"set", "k", big, "get"},
                                                  {"set", "k", big, "ifeq", "abc"},
                                                  {"set", "new", big, "nx"},
                                                  {"setnx", "new", big},
                                                  {"setex", "k", "10", big},
                                                  {"getset", "k", big},
                                                  {"append", "k", big},
                                                  {"setrange", "k", "50000", "x"},
                                                  {"setbit", "k", "400000", "1"},
                                                  {"mset", "k", "def", "new", big},
                                                  {"msetnx", "new", big, "new2", "v"},
                                                  {"bitop", "not", "k", "fill0"}}) {
    INFO(request[0]);
    CHECK(peer.ask(request) == kFull);
    CHECK(peer.ask("get k") == "$3\r\nabc\r\n");
    CHECK(peer.ask("exists new new2") == ":0\r\n");
  }
  CHECK(peer.ask("pexpiretime t") == ":4000000000000\r\n");
  CHECK(peer.ask("strlen fill0") == ":50000\r\n");
  CHECK(peer.ask("del fill0 fill1") == ":2\r\n");
  CHECK(peer.ask({"set", "k", big}) == "+OK\r\n");
}

// E3
TEST_CASE("full store: a value that was too large leaves no memory with the connection") {
  Store store = small_store();
  Peer peer(store);
  CHECK(peer.ask("setbit k 400000000 1") == kFull);
  CHECK(peer.executor().value.capacity() <= 1 << 20);
  CHECK(peer.ask({"set", "k", std::string(5'000'000, 'v')}) == "+OK\r\n");
  CHECK(peer.ask("bitcount k") == ":25000000\r\n");
  CHECK(peer.executor().value.capacity() <= 1 << 20);
}

// Every round leaves an expired element in the space that the last one freed; so the next write
// takes space that was never used, until there is none: then it sweeps, and decides again.
TEST_CASE("full store: a write that had to sweep replies as if it had not") {
  Store store = small_store();
  Peer peer(store);
  Rng rng(1);
  const std::string value(60'000, 'v');
  const std::string whole = "$60000\r\n" + value + "\r\n";
  for (int i = 0; i < 2000; ++i) {
    INFO("round " << i);
    const std::string gone = "gone" + std::to_string(i);
    const std::string key = "key" + std::to_string(i);
    REQUIRE(peer.ask({"set", gone, value, "pxat", "1"}) == "+OK\r\n");
    REQUIRE(peer.ask({"set", key, "v"}) == "+OK\r\n");
    switch (rng.below(4)) {  // the sweeps take turns, too
      case 0:
        REQUIRE(peer.ask({"set", key, value, "get"}) == "$1\r\nv\r\n");
        REQUIRE(peer.ask({"get", key}) == whole);
        break;
      case 1:
        REQUIRE(peer.ask({"getset", key, value}) == "$1\r\nv\r\n");
        REQUIRE(peer.ask({"get", key}) == whole);
        break;
      case 2:
        REQUIRE(peer.ask({"append", key, std::string_view(value).substr(1)}) == ":60000\r\n");
        REQUIRE(peer.ask({"get", key}) == whole);
        break;
      case 3:
        REQUIRE(peer.ask({"setbit", key, "479999", "1"}) == ":0\r\n");
        REQUIRE(peer.ask({"strlen", key}) == ":60000\r\n");
        REQUIRE(peer.ask({"bitcount", key, "1", "-1"}) == ":1\r\n");
        break;
    }
    REQUIRE(peer.ask({"del", key}) == ":1\r\n");
  }
}

}  // namespace
}  // namespace keyway::server
