// EXEC is one step, all or nothing; what a connection queues and watches is bounded (X3); every
// command answers in a transaction as outside of one (X2).
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "keyway/kvstore/resp/reply_parser.h"
#include "keyway/locks/base/rng.h"
#include "keyway/server/commands/engine/table.h"
#include "tests/unit/server/peer.h"

namespace keyway::server {
namespace {

constexpr std::string_view kOk = "+OK\r\n";
constexpr std::string_view kQueued = "+QUEUED\r\n";

/// MULTI, the lines and EXEC; what EXEC answers.
std::string execute_all(Peer& peer, const std::vector<std::string>& lines) {
  REQUIRE(peer.ask("multi") == kOk);
  for (const std::string& line : lines) {
    CAPTURE(line);
    REQUIRE(peer.ask(line) == kQueued);
  }
  return peer.ask("exec");
}

/// A store in which nothing has room any more, not even a small value.
void fill(Peer& peer) {
  for (const std::size_t bytes : {10'000, 100, 20, 0}) {
    for (int i = 0;; ++i) {
      const std::string key = fmt::format("filler of {}:{}", bytes, i);
      const std::string value(bytes, 'x');
      if (peer.ask(std::vector<std::string_view>{"set", key, value}) != kOk) break;
    }
  }
}

TEST_CASE("transaction: one that finds no room changes nothing, and says why") {
  Store store = small_store();
  Peer peer(store);
  REQUIRE(peer.ask("mset here 1 counter 5") == kOk);
  fill(peer);
  CHECK(execute_all(peer, {"set here 2", "client setname fred", "incr counter", "del here",
                           fmt::format("set elsewhere {}", std::string(5000, 'y'))}) ==
        "-EXECABORT Transaction discarded because of: OOM command not allowed when used memory > "
        "'maxmemory'.\r\n");
  CHECK(peer.ask("mget here counter elsewhere") == "*3\r\n$1\r\n1\r\n$1\r\n5\r\n$-1\r\n");
  CHECK(peer.client.name.empty());
  CHECK(peer.ask("exec") == "-ERR EXEC without MULTI\r\n");
  // Commands that need no memory still run.
  CHECK(execute_all(peer, {"get here", "incr counter", "del here"}) ==
        "*3\r\n$1\r\n1\r\n:6\r\n:1\r\n");
}

TEST_CASE("transaction: room that is taken by what has expired is found by a second run") {
  Store store = small_store();
  Peer peer(store);
  peer.client.statistics = &peer.service.statistics.add_worker(1);
  REQUIRE(peer.ask("set counter 5") == kOk);
  const std::string value(10'000, 'x');
  for (int i = 0;; ++i) {
    const std::string key = fmt::format("k{}", i);
    if (peer.ask({"set", key, value, "pxat", "1"}) != kOk) break;
    if (i > 5000) break;  // some were swept meanwhile
  }
  CHECK(execute_all(peer, {"hello 3", "incr counter",
                           fmt::format("set large {}", std::string(100'000, 'y')), "get nothing"})
            .ends_with(":6\r\n+OK\r\n_\r\n"));
  const auto calls = [&](std::string_view name) {
    return peer.service.statistics.command(find_command(name)->number).calls;
  };
  CHECK(calls("incr") == 1);
  CHECK(calls("get") == 1);
  CHECK(peer.service.statistics.totals().misses == 1);
  CHECK(peer.ask("get counter") == "$1\r\n6\r\n");  // and not raised twice
}

TEST_CASE("transaction: what is queued and watched is bounded") {  // X3
  Store store = small_store();
  Peer peer(store);
  peer.service.transaction_bytes = 10'000;
  REQUIRE(peer.ask("multi") == kOk);
  int queued = 0;
  while (peer.ask("get k") == kQueued) REQUIRE(++queued < 10'000);
  CHECK(queued > 10);
  CHECK(peer.client.transaction->bytes() <= 10'000);
  CHECK(peer.ask("get k") ==
        "-ERR the transaction takes more than 10000 bytes (--transaction-size)\r\n");
  CHECK(peer.ask("exec") == "-EXECABORT Transaction discarded because of previous errors.\r\n");
  CHECK(peer.client.transaction == nullptr);

  int watched = 0;
  std::string reply(kOk);
  for (; reply == kOk && watched < 10'000; ++watched) {
    reply = peer.ask(fmt::format("watch key:{}", watched));
  }
  CHECK(reply == "-ERR the watched keys take more than 10000 bytes (--transaction-size)\r\n");
  CHECK(watched > 10);
  CHECK(peer.client.transaction->bytes() <= 10'000);
  CHECK(peer.ask("watch key:1") == kOk);  // which it does already
  CHECK(peer.ask("unwatch") == kOk);
  CHECK(peer.client.transaction == nullptr);
  CHECK(peer.ask(fmt::format("set k {}", std::string(20'000, 'x'))) ==
        kOk);  // outside, it may be long
}

TEST_CASE("transaction: who has not said who it is neither queues nor executes") {
  Store store = small_store();
  Peer peer(store);
  peer.service.password.set("p");
  REQUIRE(peer.ask("multi") == kOk);
  REQUIRE(peer.ask("set a 1") == kQueued);
  peer.client.authenticated = false;
  CHECK(peer.ask("set a 2") == "-NOAUTH Authentication required.\r\n");
  CHECK(peer.ask("exec") ==
        "-EXECABORT Transaction discarded because of: NOAUTH Authentication required.\r\n");
  CHECK(peer.client.transaction == nullptr);
  peer.client.authenticated = true;
  CHECK(peer.ask("get a") == "$-1\r\n");
}

/// Both use any words. As a time to live each number is past, or far ahead.
const std::vector<std::string> kKeysOrValues = {
    "",    "a",     "b",      "a longer key of the heap",
    "0",   "-1",    "100000", "x",
    "nx",  "get",   "ex",     "replace",
    "and", "match", "*"};

/// For a reply of one line. Times to live, and their ends, depend on when they were set, which
/// differs by ms in two stores: only their presence is compared.
std::string without_time(const Command& command, std::string reply) {
  constexpr std::string_view kTimes[] = {"ttl", "pttl", "expiretime", "pexpiretime"};
  if (std::find(std::begin(kTimes), std::end(kTimes), command.name) == std::end(kTimes)) {
    return reply;
  }
  return reply.starts_with(":-") || !reply.starts_with(':') ? reply : ":a time\r\n";
}

TEST_CASE("transaction: a command answers in it as outside of it, whatever its words are") {  // X2
  Store inside_store = small_store();
  Store outside_store = small_store();
  Peer inside(inside_store);
  Peer outside(outside_store);
  Rng rng(11);
  const auto word = [&]() -> std::string_view {
    return kKeysOrValues[rng.below(kKeysOrValues.size())];
  };
  std::vector<const Command*> commands;
  for (const Command& command : all_commands()) {
    // The reply of commands with keys depends on the keys alone.
    const bool queued = (command.flags & (kUnqueued | kNoMulti)) == 0;
    if (command.keys.first != 0 && queued) commands.push_back(&command);
    for (const Command& sub : command.subcommands) {
      if (sub.keys.first != 0 && sub.name.starts_with("object|")) commands.push_back(&sub);
    }
  }
  REQUIRE(commands.size() > 45);
  for (int round = 0; round < 6000; ++round) {
    const Command& command = *commands[rng.below(commands.size())];
    const std::size_t bar = command.name.find('|');
    std::vector<std::string_view> words = {command.name.substr(0, bar)};
    if (bar != std::string_view::npos) words.push_back(command.name.substr(bar + 1));
    const auto least = static_cast<std::size_t>(std::abs(command.arity));
    const std::size_t most = command.arity > 0 ? least : least + 3;
    while (words.size() < least || (words.size() < most && rng.below(2) == 0)) {
      words.push_back(word());
    }
    std::string text;
    for (const std::string_view each : words) text += fmt::format("'{}' ", each);
    CAPTURE(text);
    const std::string alone = without_time(command, outside.ask(words));
    REQUIRE(inside.ask("multi") == kOk);
    REQUIRE(inside.ask(words) == kQueued);
    const std::string executed = inside.ask("exec");
    REQUIRE(executed.starts_with("*1\r\n"));
    REQUIRE(without_time(command, executed.substr(4)) == alone);
  }
  for (const std::string& key : kKeysOrValues) {
    const std::vector<std::string_view> read = {"get", key};
    CHECK(inside.ask(read) == outside.ask(read));
    const std::vector<std::string_view> expiry = {"pexpiretime", key};
    CHECK(inside.ask(expiry).substr(0, 2) == outside.ask(expiry).substr(0, 2));
  }
}

}  // namespace
}  // namespace keyway::server
