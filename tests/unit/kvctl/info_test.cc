// The fields of INFO, and of replies.
#include "tools/kvctl/modes/info.h"

#include <catch2/catch.hpp>

#include "tools/kvctl/modes/modes.h"
#include "tools/kvctl/modes/tree.h"

using namespace keyway;
using namespace keyway::kvctl;

TEST_CASE("kvctl: fields of INFO by their names") {
  const Info info(
      "# Memory\r\nused_memory:1572864\r\nempty:\r\n\r\n# Keyspace\r\ndb0:keys=12,expires=1\r\n"
      "db3:keys=30,expires=0\r\ndbx:what");
  CHECK(info.number("used_memory") == 1572864);
  CHECK(info.number("absent") == 0);
  CHECK(info.text("empty").empty());
  CHECK(info.keys() == 42);
  CHECK(human_bytes(1572864) == "1.50M");
  CHECK(human_bytes(999) == "999B");
}

TEST_CASE("kvctl: fields of a map, and of the list that RESP2 makes of one") {
  for (const char* bytes :
       {"%3\r\n+rank\r\n:1\r\n+share\r\n,0.5\r\n+list\r\n*2\r\n:7\r\n:8\r\n",
        "*6\r\n$4\r\nrank\r\n:1\r\n$5\r\nshare\r\n$3\r\n0.5\r\n$4\r\nlist\r\n*2\r\n:7\r\n:8\r\n"}) {
    resp::ReplyParser parser;
    REQUIRE(parser.parse(bytes) == resp::ReplyParser::Step::kReply);
    const Tree tree(parser.nodes());
    CHECK(tree.field("Rank").count() == 1);
    CHECK(tree.field("share").number() == 0.5);
    REQUIRE(tree.field("list").elements().size() == 2);
    CHECK(tree.field("list").elements()[1].count() == 8);
    CHECK(tree.field("absent").count() == 0);
    CHECK(tree.field("absent").elements().empty());
  }
}

TEST_CASE("kvctl: words that ask for a view") {
  CHECK(view_of({"cluster"}) == View::kCluster);
  CHECK(view_of({"LOCKS", "5"}) == View::kLocks);
  CHECK_FALSE(view_of({"cluster", "info"}));
  CHECK_FALSE(view_of({"locks", "x"}));
  CHECK_FALSE(view_of({"locks", "0"}));
  CHECK_FALSE(view_of({"get", "locks"}));
}
