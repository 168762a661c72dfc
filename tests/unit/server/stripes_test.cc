// KW.STRIPES: the locks of stripes, of a store that chooses them and of one that does not.
#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "keyway/kvstore/resp/reply_parser.h"
#include "tests/unit/server/peer.h"

using namespace keyway;
using namespace keyway::server;

namespace {

struct Row {
  double contenders = 0;
  std::int64_t samples = 0;
  std::int64_t stripe = 0;
  std::string kind;
};

/// The rows of a reply in RESP3: nine fields each.
std::vector<Row> rows_of(const std::string& reply) {
  resp::ReplyParser parser;
  REQUIRE(parser.parse(reply) == resp::ReplyParser::Step::kReply);
  const auto nodes = parser.nodes();
  REQUIRE(nodes[0].kind == resp::Kind::kArray);
  std::vector<Row> rows;
  for (std::size_t at = 1; at < nodes.size(); at += 19) {
    REQUIRE(nodes[at].kind == resp::Kind::kMap);
    REQUIRE(nodes[at].integer == 18);
    const auto value = [&](std::size_t field, std::string_view name) {
      REQUIRE(nodes[at + 1 + 2 * field].text == name);
      return nodes[at + 2 + 2 * field];
    };
    CHECK(value(0, "rank").integer == 0);
    CHECK(value(5, "reads").real <= 1);
    CHECK(value(6, "local").real <= 1);
    CHECK_FALSE(value(8, "why").text.empty());
    rows.push_back({value(7, "others").real, value(3, "samples").integer,
                    value(1, "stripe").integer, std::string(value(2, "kind").text)});
  }
  return rows;
}

}  // namespace

TEST_CASE("server: stripes that were visited are told, the most contended first") {
  auto store = Store::open("local:?memory=16MiB&lock=auto&lock_costs=nominal");
  REQUIRE(store.ok());
  Peer peer(*store);
  peer.client.version = resp::Version::kResp3;
  CHECK(rows_of(peer.ask("KW.STRIPES")).empty());
  for (int i = 0; i < 4000; ++i) {
    const std::string key = fmt::format("key:{}", i % 3 == 0 ? i % 30 : 0);
    peer.ask(i % 4 == 0 ? fmt::format("SET {} v", key) : fmt::format("GET {}", key));
  }
  const auto rows = rows_of(peer.ask("KW.STRIPES COUNT 100"));
  REQUIRE(rows.size() > 1);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    CHECK(rows[i - 1].contenders >= rows[i].contenders);
    if (rows[i - 1].contenders == rows[i].contenders) CHECK(rows[i - 1].samples >= rows[i].samples);
    CHECK_FALSE(rows[i].kind.empty());
  }
  const auto one = rows_of(peer.ask("kw.stripes count 1"));
  REQUIRE(one.size() == 1);
  CHECK(one[0].stripe == rows[0].stripe);
}

TEST_CASE("server: a store with one kind of lock samples no stripe") {
  Store store = small_store();
  Peer peer(store);
  peer.ask("SET k v");
  CHECK(peer.ask("KW.STRIPES") == "*0\r\n");
}

TEST_CASE("server: KW.STRIPES takes a number above 0") {
  Store store = small_store();
  Peer peer(store);
  for (const char* line : {"KW.STRIPES COUNT", "KW.STRIPES 5", "KW.STRIPES COUNT 0",
                           "KW.STRIPES COUNT -1", "KW.STRIPES COUNT 5 6"}) {
    CAPTURE(line);
    CHECK(peer.ask(line) == "-ERR syntax error\r\n");
  }
  CHECK(peer.ask("KW.STRIPES COUNT x") == "-ERR value is not an integer or out of range\r\n");
}
