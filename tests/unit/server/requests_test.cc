// Requests without a fixed reply: numbers of connections, random keys, scans of many keys, long
// keys.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "keyway/kvstore/resp/reply_parser.h"
#include "tests/unit/server/peer.h"

namespace keyway::server {
namespace {

std::vector<resp::Reply> parsed(resp::ReplyParser& parser, const std::string& bytes) {
  REQUIRE(parser.parse(bytes) == resp::ReplyParser::Step::kReply);
  CHECK(parser.consumed() == bytes.size());
  return {parser.nodes().begin(), parser.nodes().end()};
}

TEST_CASE("requests: a connection is told what it is") {
  Store store = small_store();
  Peer peer(store);
  CHECK(peer.ask("client id") == ":7\r\n");
  CHECK(peer.ask("client setname me") == "+OK\r\n");
  const std::string fields =
      "id=7 addr=127.0.0.1:1234 laddr=127.0.0.1:6379 fd=-1 name=me age=0 idle=0 flags=N db=0 sub=0 "
      "psub=0 ssub=0 multi=-1 qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 "
      "omem=0 tot-mem=0 events=r cmd=client|info user=default redir=-1 resp=";
  CHECK(peer.ask("client info") ==
        "$" + std::to_string(fields.size() + 2) + "\r\n" + fields + "2\n\r\n");
  peer.ask("hello 3");
  CHECK(peer.ask("client info") ==
        "=" + std::to_string(fields.size() + 6) + "\r\ntxt:" + fields + "3\n\r\n");
  CHECK(peer.client.version == resp::Version::kResp3);
  CHECK(peer.ask("reset") == "+RESET\r\n");
  CHECK(peer.client.version == resp::Version::kResp2);
  CHECK(peer.client.name.empty());
  CHECK_FALSE(peer.client.closing);
  CHECK(peer.ask("quit") == "+OK\r\n");
  CHECK(peer.client.closing);
}

TEST_CASE("requests: help tells each subcommand") {
  Store store = small_store();
  Peer peer(store);
  for (const std::string command : {"client", "command"}) {
    resp::ReplyParser parser;
    const std::string bytes = peer.ask(command + " help");
    const auto nodes = parsed(parser, bytes);
    REQUIRE(nodes.size() > 4);
    CHECK(nodes[1].text.ends_with(" <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
    CHECK(nodes[nodes.size() - 2].text == "HELP");
  }
}

TEST_CASE("requests: a scan shows each key once, whatever COUNT is") {
  Store store = small_store();
  Peer peer(store);
  constexpr int kKeys = 3000;
  for (int i = 0; i < kKeys; ++i) {
    REQUIRE(peer.ask("set key:" + std::to_string(i) + " v") == "+OK\r\n");
  }
  for (const std::string options : {"", " count 1", " count 777", " count 100000"}) {
    std::multiset<std::string> seen;
    std::string cursor = "0";
    do {
      resp::ReplyParser parser;
      const std::string bytes = peer.ask("scan " + cursor + options);
      const auto nodes = parsed(parser, bytes);
      REQUIRE(nodes.size() >= 3);
      cursor = nodes[1].text;
      for (std::size_t i = 3; i < nodes.size(); ++i) seen.emplace(nodes[i].text);
    } while (cursor != "0");
    INFO("scan 0" << options);
    CHECK(seen.size() == kKeys);
    CHECK(std::set<std::string>(seen.begin(), seen.end()).size() == kKeys);
  }
  CHECK(peer.ask("keys *").starts_with("*3000\r\n"));
  CHECK(peer.ask("keys key:1?").starts_with("*10\r\n"));
  CHECK(peer.ask("dbsize") == ":3000\r\n");
}

TEST_CASE("requests: random keys are keys, and not always the same") {
  Store store = small_store();
  Peer peer(store);
  CHECK(peer.ask("randomkey") == "$-1\r\n");
  for (int i = 0; i < 100; ++i) peer.ask("set k" + std::to_string(i) + " v");
  std::set<std::string> drawn;
  for (int i = 0; i < 200; ++i) {
    resp::ReplyParser parser;
    const std::string bytes = peer.ask("randomkey");
    const std::string key(parsed(parser, bytes)[0].text);
    CHECK(peer.ask("exists " + key) == ":1\r\n");
    drawn.insert(key);
  }
  CHECK(drawn.size() > 20);
}

TEST_CASE("requests: a key that is too long is not there, and cannot be made") {
  Store store = small_store();
  Peer peer(store);
  const std::string key(65537, 'k');
  const std::string refusal = "-ERR a key has 65537 bytes; it must have 1 to 65536\r\n";
  CHECK(peer.ask({"get", key}) == "$-1\r\n");
  CHECK(peer.ask({"mget", "a", key}) == "*2\r\n$-1\r\n$-1\r\n");
  CHECK(peer.ask({"del", key, "a"}) == ":0\r\n");
  CHECK(peer.ask({"getrange", key, "0", "1"}) == "$0\r\n\r\n");
  CHECK(peer.ask({"lcs", key, "a"}) == "$0\r\n\r\n");
  CHECK(peer.ask({"expire", key, "10"}) == ":0\r\n");
  CHECK(peer.ask({"persist", key}) == ":0\r\n");
  CHECK(peer.ask({"pttl", key}) == ":-2\r\n");
  CHECK(peer.ask({"getbit", key, "0"}) == ":0\r\n");
  CHECK(peer.ask({"bitcount", key}) == ":0\r\n");
  CHECK(peer.ask({"set", key, "v"}) == refusal);
  CHECK(peer.ask({"set", key, "v", "get"}) == refusal);
  CHECK(peer.ask({"setnx", key, "v"}) == refusal);
  CHECK(peer.ask({"setex", key, "10", "v"}) == refusal);
  CHECK(peer.ask({"getset", key, "v"}) == refusal);
  CHECK(peer.ask({"mset", "a", "1", key, "v"}) == refusal);
  CHECK(peer.ask({"msetnx", "a", "1", key, "v"}) == refusal);
  CHECK(peer.ask({"append", key, "v"}) == refusal);
  CHECK(peer.ask({"setrange", key, "1", "v"}) == refusal);
  CHECK(peer.ask({"setbit", key, "1", "1"}) == refusal);
  CHECK(peer.ask({"incr", key}) == refusal);
  CHECK(peer.ask({"incrbyfloat", key, "1"}) == refusal);
  CHECK(peer.ask("dbsize") == ":0\r\n");
}

TEST_CASE("requests: LCS refuses a table that would be too large") {
  Store store = small_store();
  Peer peer(store);
  const std::string value(100'000, 'a');
  CHECK(peer.ask({"mset", "a", value, "b", value}) == "+OK\r\n");
  CHECK(peer.ask("lcs a b len") ==
        "-ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len\r\n");
}

}  // namespace
}  // namespace keyway::server
