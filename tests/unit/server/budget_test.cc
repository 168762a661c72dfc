// Replies that do not fit: they are dropped, for every command; reads end there and release their
// locks, and completed writes remain.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/unit/server/peer.h"

namespace keyway::server {
namespace {

constexpr std::size_t kLimit = 64 << 10;
constexpr std::size_t kValue = 8 << 10;

struct Budget final : resp::ReplyBudget {
  std::size_t allow(std::size_t needed) override { return needed > kLimit ? 0 : kLimit; }
  std::size_t most() const override { return kLimit; }
};

/// A client with bounded replies, and 100 values of kValue bytes.
class BoundedPeer : public Peer {
 public:
  explicit BoundedPeer(Store& store) : Peer(store) {
    client.statistics = &service.statistics.add_worker(1);
    const std::string value(kValue, 'v');
    for (int i = 0; i < 100; ++i) Peer::ask({"set", fmt::format("k{}", i), value});
  }
  /// Whether the reply was dropped.
  bool drops(const std::vector<std::string_view>& words) {
    reply.clear();
    resp::ReplyWriter out(reply, client.version, budget_, 0);
    execute(client, executor(), service, words, out);
    CHECK(reply.size() <= kLimit);
    return out.is_dropped();
  }

  std::string reply;

 private:
  Budget budget_;
};

std::vector<std::string> keys(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("k{}", i));
  return names;
}

std::vector<std::string_view> request(std::string_view command,
                                      const std::vector<std::string>& arguments) {
  std::vector<std::string_view> words{command};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

TEST_CASE("budget: MGET ends at the value that does not fit, and gives back all locks") {
  Store store = small_store();
  BoundedPeer peer(store);
  CHECK_FALSE(peer.drops(request("mget", keys(7))));
  CHECK(peer.reply.size() > 7 * kValue);
  for (const std::string_view odd : {"k1", ""}) {  // a key that cannot be in the store, too
    CAPTURE(odd);
    auto names = keys(100);
    names[50] = odd;
    const std::uint64_t before = peer.service.statistics.totals().hits;
    CHECK(peer.drops(request("mget", names)));
    CHECK(peer.service.statistics.totals().hits - before == 8);
  }
  Peer other(store);
  for (int i = 0; i < 100; ++i)
    REQUIRE(other.ask({"set", fmt::format("k{}", i), "w"}) == "+OK\r\n");
}

TEST_CASE("budget: MGET of odd keys has nothing in their places") {
  Store store = small_store();
  BoundedPeer peer(store);
  peer.ask("mset a 1 b 2");
  CHECK(peer.ask({"mget", "", "a", "", "", "b", "none", ""}) ==
        "*7\r\n$-1\r\n$1\r\n1\r\n$-1\r\n$-1\r\n$1\r\n2\r\n$-1\r\n$-1\r\n");
  CHECK(peer.ask({"mget", "", ""}) == "*2\r\n$-1\r\n$-1\r\n");
}

TEST_CASE("budget: KEYS, SCAN, GET, GETRANGE and ECHO") {
  Store store = small_store();
  BoundedPeer peer(store);
  const std::string name(1000, 'n');
  for (int i = 0; i < 100; ++i) peer.ask({"set", fmt::format("{}{}", i, name), ""});
  peer.ask({"set", "large", std::string(kLimit, 'l')});
  const std::string large(kLimit, 'e');
  CHECK(peer.drops({"keys", "*"}));
  CHECK(peer.drops({"scan", "0", "count", "10000"}));
  CHECK(peer.drops({"getrange", "large", "0", "-1"}));
  CHECK(peer.drops({"get", "large"}));
  CHECK(peer.drops({"echo", large}));
  CHECK_FALSE(peer.drops({"keys", "k1*"}));
  CHECK(peer.reply.starts_with("*11\r\n"));
  CHECK_FALSE(peer.drops({"scan", "0", "count", "10000", "match", "k1*"}));
  CHECK(peer.reply.starts_with("*2\r\n$1\r\n0\r\n*11\r\n"));
}

TEST_CASE("budget: all commands of a transaction run, and what they write stays, as in Redis") {
  Store store = small_store();
  BoundedPeer peer(store);
  for (const bool whole : {false, true}) {
    CAPTURE(whole);
    peer.ask("del before after");
    REQUIRE(peer.ask("multi") == "+OK\r\n");
    if (whole) peer.ask("dbsize");
    peer.ask("incr before");
    for (const std::string& key : keys(100)) peer.ask({"get", key});
    peer.ask(request("mget", keys(100)));
    peer.ask("incr after");
    peer.ask("getset after 7");
    CHECK(peer.drops({"exec"}));
    CHECK(peer.ask("mget before after") == "*2\r\n$1\r\n1\r\n$1\r\n7\r\n");
  }
}

TEST_CASE("budget: a reply that nobody wants cuts nobody off") {
  Store store = small_store();
  BoundedPeer peer(store);
  peer.ask("client reply off");
  CHECK_FALSE(peer.drops(request("mget", keys(100))));
  CHECK(peer.reply.empty());
  CHECK_FALSE(peer.drops({"client", "reply", "on"}));
  CHECK(peer.reply == "+OK\r\n");
}

}  // namespace
}  // namespace keyway::server
