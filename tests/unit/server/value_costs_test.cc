// Commands that are about a part of a value, or about none of it, do not touch the rest.
#include <fmt/core.h>

#include "keyway/server/commands/admin/own_usage.h"
#include "peer.h"
#include "tests/support/forbidden_pages.h"

using namespace keyway;
using namespace keyway::server;
using keyway::test::ForbiddenPages;

namespace {

constexpr std::uint64_t kLarge = 4 << 20;

/// A peer with a value of kLarge ones and zeros by turns.
struct Large {
  Large() : store(small_store()), peer(store) {
    REQUIRE(peer.session().put("big", std::string(kLarge, '\x0f')).ok());
  }
  std::string_view value() {
    std::string_view at;
    REQUIRE(peer.session().read("big", [&](const ElementState& e) { at = e.value; }).ok());
    return at;
  }
  /// The replies to these lines while the middle of the value may not be touched.
  void check(std::initializer_list<std::pair<const char*, const char*>> exchanges) {
    const std::string_view at = value();
    for (const auto& [line, reply] : exchanges) {
      INFO(line);
      std::string got;
      {
        const ForbiddenPages forbidden(at, 64 * 1024);
        got = peer.ask(line);
      }
      CHECK(got == reply);
    }
  }

  Store store;
  Peer peer;
};

}  // namespace

TEST_CASE("value costs: a change of a part of a value does not touch the rest") {
  Large large;
  large.check({{"APPEND big x", ":4194305\r\n"},
               {"SETRANGE big 0 y", ":4194305\r\n"},
               {"SETRANGE big 4194306 z", ":4194307\r\n"},
               {"SETBIT big 0 1", ":0\r\n"},
               {"SETBIT big 33554400 1", ":0\r\n"},
               {"SETBIT big 33554400 1", ":1\r\n"},
               {"EXPIRE big 1000", ":1\r\n"},
               {"PEXPIREAT big 99999999999999", ":1\r\n"},
               {"PERSIST big", ":1\r\n"},
               {"PERSIST big", ":0\r\n"}});
  CHECK(large.peer.ask("GETRANGE big 4194300 -1") ==
        std::string("$7\r\n\x8f\x0f\x0f\x0fx\0z\r\n", 13));
}

TEST_CASE("value costs: GETEX reads the value, and writes none of it") {
  Large large;
  const std::string_view at = large.value();
  const std::string reply = large.peer.ask("GET big");
  REQUIRE(reply.size() > kLarge);
  for (const char* line :
       {"GETEX big EX 1000", "GETEX big EX 1000", "GETEX big PXAT 99999999999999",
        "GETEX big PERSIST", "GETEX big PERSIST", "GETEX big"}) {
    INFO(line);
    std::string got;
    {
      const ForbiddenPages read_only(at, 64 * 1024, PROT_READ);
      got = large.peer.ask(line);
    }
    CHECK((got == reply));  // without 4 MiB of a failure's text
    CHECK(large.value().data() == at.data());
  }
}

TEST_CASE("value costs: a look at a part of a value does not touch the rest") {
  Large large;
  large.check({{"STRLEN big", ":4194304\r\n"},
               {"TTL big", ":-1\r\n"},
               {"PTTL big", ":-1\r\n"},
               {"EXPIRETIME big", ":-1\r\n"},
               {"TYPE big", "+string\r\n"},
               {"EXISTS big", ":1\r\n"},
               {"OBJECT REFCOUNT big", ":1\r\n"},
               {"GETBIT big 4", ":1\r\n"},
               {"GETBIT big 33554431", ":1\r\n"},
               {"GETRANGE big 0 1", "$2\r\n\x0f\x0f\r\n"},
               {"GETRANGE big -2 -1", "$2\r\n\x0f\x0f\r\n"},
               {"SUBSTR big -1 0", "$0\r\n\r\n"},
               {"BITPOS big 1", ":4\r\n"},
               {"BITPOS big 1 -1", ":33554428\r\n"},
               {"BITPOS big 0 4194303 -1", ":33554424\r\n"},
               {"BITPOS big 1 33554424 33554427 BIT", ":-1\r\n"},
               {"BITCOUNT big 0 9", ":40\r\n"},
               {"BITCOUNT big -1 -1", ":4\r\n"},
               {"BITCOUNT big 5 2", ":0\r\n"},
               {"BITCOUNT big 0 x", "-ERR value is not an integer or out of range\r\n"},
               {"KEYS *", "*1\r\n$3\r\nbig\r\n"},
               {"SCAN 0 COUNT 1000000", "*2\r\n$1\r\n0\r\n*1\r\n$3\r\nbig\r\n"},
               {"RANDOMKEY", "$3\r\nbig\r\n"},
               {"DBSIZE", ":1\r\n"},
               {"SET big never NX", "$-1\r\n"},
               {"MSETNX big never", ":0\r\n"},
               {"DEL big", ":1\r\n"}});
}

// X2
TEST_CASE("value costs: a transaction changes a part of a value as commands outside of one do") {
  Store store = small_store();
  Store other = small_store();
  Peer outside(store);
  Peer inside(other);
  const std::string long_value(20'000, 'v');
  const std::string long_suffix(5'000, 's');
  for (const std::string& line : {std::string("set k 0123456789"),
                                  std::string("append k x"),
                                  std::string("setrange k 2 ab"),
                                  std::string("setrange k 20 z"),
                                  std::string("setbit k 3 1"),
                                  std::string("setbit k 200 1"),
                                  std::string("getbit k 200"),
                                  std::string("expireat k 4000000000"),
                                  std::string("expireat k 3999999999 gt"),
                                  std::string("append k y"),
                                  std::string("expiretime k"),
                                  std::string("persist k"),
                                  std::string("persist k"),
                                  std::string("getrange k -3 -1"),
                                  std::string("bitcount k 1 -2"),
                                  std::string("bitcount k 1 x"),
                                  std::string("bitpos k 0 5"),
                                  std::string("bitpos k 1 2 x"),
                                  std::string("append new \"\""),
                                  std::string("strlen new"),
                                  std::string("exists new"),
                                  std::string("setrange none 5 \"\""),
                                  std::string("exists none"),
                                  std::string("setrange k 536870912 x"),
                                  std::string("setbit k 4294967296 1"),
                                  std::string("setbit fresh 9 1"),
                                  std::string("get fresh"),
                                  "set l " + long_value,
                                  "append l " + long_suffix,
                                  std::string("setrange l 17000 !"),
                                  std::string("expireat l 4000000000"),
                                  std::string("getrange l 16990 17010"),
                                  std::string("expire l -1"),
                                  std::string("append l again"),
                                  std::string("get l"),
                                  std::string("get k")}) {
    INFO(line.substr(0, 40));
    const std::string reply = outside.ask(line);
    REQUIRE(inside.ask("multi") == "+OK\r\n");
    REQUIRE(inside.ask(line) == "+QUEUED\r\n");
    CHECK(inside.ask("exec") == "*1\r\n" + reply);
  }
}

TEST_CASE("value costs: INFO tells of memory what was found last, without a look at the heap") {
  Large large;
  Service& service = large.peer.service;
  look_at_volumes(large.peer.session(), service.server_info, service.volumes);
  const std::string before = large.peer.ask("INFO memory");
  REQUIRE(large.peer.ask("APPEND big " + std::string(1 << 20, 'x')) == ":5242880\r\n");
  const auto used = [&] { return used_bytes(service.volumes); };
  const std::uint64_t then = used();
  CHECK(large.peer.ask("INFO memory").find(fmt::format("used_memory:{}\r\n", then)) !=
        std::string::npos);
  service.volumes.ranks[0].heap_free_chunks.set(4711);
  CHECK(large.peer.ask("INFO volumes").find("heap_free_chunks=4711,") != std::string::npos);
  look_at_volumes(large.peer.session(), service.server_info, service.volumes);
  CHECK(used() > then);
  CHECK(large.peer.ask("INFO volumes").find("heap_free_chunks=4711,") == std::string::npos);
  CHECK(large.peer.ask("INFO keyspace").find("db0:keys=1,") != std::string::npos);
}
