// The counters of requests: calls, refusals, errors, times, keys.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <catch2/catch.hpp>

#include "keyway/server/commands/engine/table.h"
#include "tests/unit/server/peer.h"

namespace keyway::server {
namespace {

/// A peer with counted requests.
class CountedPeer : public Peer {
 public:
  explicit CountedPeer(Store& store) : Peer(store) {
    client.statistics = &service.statistics.add_worker(1);
    client.statistics->look_at_clock();
  }
  CommandTotals totals(std::string_view name) {
    return service.statistics.command(find_command(name)->number);
  }
};

TEST_CASE("counting: calls, failures, refusals") {
  Store store = small_store();
  CountedPeer peer(store);
  peer.ask("set k v");
  peer.ask("get k");
  peer.ask("get k");
  peer.ask("get");
  peer.ask("incr k");
  peer.ask("nosuch");
  CHECK(peer.totals("get").calls == 2);
  CHECK(peer.totals("get").rejected == 1);
  CHECK(peer.totals("get").failed == 0);
  CHECK(peer.totals("get").latencies.count() == 2);
  CHECK(peer.totals("get").ns > 0);
  CHECK(peer.totals("incr").calls == 1);
  CHECK(peer.totals("incr").failed == 1);
  CHECK(peer.service.statistics.totals().calls == 4);
  CHECK(peer.service.statistics.totals().error_replies == 3);
  CHECK(peer.service.statistics.errors() == std::map<std::string, std::uint64_t>{{"ERR", 3}});
}

TEST_CASE("counting: who has not said who he is, is refused") {
  Store store = small_store();
  CountedPeer peer(store);
  peer.service.password.set("secret");
  peer.client.authenticated = false;
  peer.ask("get k");
  peer.ask("auth wrong");
  CHECK(peer.totals("get").rejected == 1);
  CHECK(peer.totals("get").calls == 0);
  CHECK(peer.totals("auth").failed == 1);
  CHECK(peer.service.statistics.errors() ==
        std::map<std::string, std::uint64_t>{{"NOAUTH", 1}, {"WRONGPASS", 1}});
}

TEST_CASE("counting: a lock that was not had in time may be asked for again") {
  std::string out;
  resp::ReplyWriter writer(out, resp::Version::kResp2);
  reply_failed(writer, Status(Code::kTimeout, "agent 3 holds it"));
  CHECK(out == "-TRYAGAIN agent 3 holds it\r\n");
}

TEST_CASE("counting: every command and subcommand has a number of its own") {
  for (std::size_t number = 0; number < command_numbers(); ++number) {
    CHECK(command_of(number).number == number);
  }
  CHECK(command_of(find_command("get")->number).name == "get");
  const Command* client = find_command("client");
  CHECK(command_of(find_subcommand(*client, "id")->number).name == "client|id");
}

TEST_CASE("counting: slow requests are kept, without passwords") {
  Store store = small_store();
  CountedPeer peer(store);
  peer.service.slow_log.set_threshold_us(0);
  peer.client.name = "me";
  peer.client.came_ns = 1;
  peer.ask("set k v");
  auto slow = peer.service.slow_log.newest(1);
  REQUIRE(slow.size() == 1);
  CHECK(slow[0].words == std::vector<std::string>{"set", "k", "v"});
  CHECK(slow[0].name == "me");
  CHECK(slow[0].address == peer.client.address);
  CHECK(slow[0].times.queue > 0);
  CHECK(slow[0].times.lock_wait == 0);
  peer.ask("auth default secret");
  CHECK(peer.service.slow_log.newest(1)[0].words ==
        std::vector<std::string>{"auth", "(redacted)", "(redacted)"});
  peer.ask("hello 3 auth default secret setname x");
  CHECK(peer.service.slow_log.newest(1)[0].words ==
        std::vector<std::string>{"hello", "3", "auth", "(redacted)", "(redacted)", "setname", "x"});
  peer.service.slow_log.set_threshold_us(-1);
  peer.ask("set k w");
  CHECK(peer.service.slow_log.size() == 3);
}

TEST_CASE(
    "counting: a password is hidden wherever it stands, also behind names that look like options") {
  Store store = small_store();
  CountedPeer peer(store);
  peer.service.slow_log.set_threshold_us(0);
  const auto kept = [&](std::string_view line) {
    peer.ask(line);
    return fmt::format("{}", fmt::join(peer.service.slow_log.newest(1)[0].words, " "));
  };
  CHECK(kept("hello 3 setname auth AUTH default hunter2") ==
        "hello 3 setname auth AUTH (redacted) (redacted)");
  CHECK(kept("hello 3 setname auth setname setname auth default hunter2") ==
        "hello 3 setname auth setname setname auth (redacted) (redacted)");
  CHECK(kept("hello 3 auth auth auth AUTH default hunter2") ==
        "hello 3 auth (redacted) (redacted) AUTH (redacted) (redacted)");
  CHECK(kept("hello 3 auht default hunter2") == "hello 3 (redacted) (redacted) (redacted)");
  CHECK(kept("hello 3 auth hunter2") == "hello 3 (redacted) (redacted)");
  CHECK(kept("hello auth default hunter2") == "hello auth (redacted) (redacted)");
  CHECK(kept("config set slowlog-max-len requirepass requirepass hunter2") ==
        "config set slowlog-max-len requirepass requirepass (redacted)");
  CHECK(kept("config set requirepass requirepass") == "config set requirepass (redacted)");
}

TEST_CASE("E3: names are bounded, and one given with HELLO is kept only after the login") {
  Store store = small_store();
  CountedPeer peer(store);
  const std::string longest(1024, 'n');
  CHECK(peer.ask({"client", "setname", longest}) == "+OK\r\n");
  CHECK(peer.client.name == longest);
  const std::string longer = longest + "n";
  constexpr std::string_view kTooLong = "-ERR Client names cannot be longer than 1024 bytes.\r\n";
  CHECK(peer.ask({"client", "setname", longer}) == kTooLong);
  CHECK(peer.ask({"hello", "2", "setname", longer}) == kTooLong);
  CHECK(peer.client.name == longest);

  peer.service.password.set("secret");
  peer.ask("reset");
  CHECK(peer.ask("hello 2 setname stranger").starts_with("-NOAUTH"));
  CHECK(peer.ask("hello 2 setname stranger auth default wrong").starts_with("-WRONGPASS"));
  CHECK(peer.client.name.empty());
  CHECK(peer.ask("hello 2 setname known auth default secret").starts_with("*14"));
  CHECK(peer.client.name == "known");
  peer.ask("reset");
  CHECK(peer.ask("hello 2 setname first auth default secret setname last").starts_with("*14"));
  CHECK(peer.client.name == "last");
}

TEST_CASE("counting: hot keys and stripes, by samples") {
  Store store = small_store();
  CountedPeer peer(store);
  for (int i = 0; i < 20'000; ++i) {
    peer.ask("get hot");
    if (i % 4 == 0) peer.ask("set written 1");
    if (i % 8 == 0) peer.ask("mget hot cold");
  }
  const std::string reads = peer.ask("kw.hotkeys reads count 1");
  CHECK(reads.find("*1\r\n*12\r\n$3\r\nkey\r\n$3\r\nhot\r\n$6\r\nlength\r\n:3\r\n$6\r\naccess\r\n"
                   "$4\r\nread\r\n$5\r\nshare\r\n") == 0);
  CHECK(peer.ask("kw.hotkeys WRITES").find("$3\r\nkey\r\n$7\r\nwritten\r\n") != std::string::npos);
  const StripePlace place = peer.session().inspector().stripe_of("hot");
  CHECK(peer.ask("kw.hotstripes reads")
            .find("$4\r\nrank\r\n:0\r\n$6\r\nstripe\r\n:" + std::to_string(place.stripe)) !=
        std::string::npos);
  for (const char* wrong : {"kw.hotkeys count", "kw.hotkeys count 0", "kw.hotkeys reads writes",
                            "kw.hotkeys foo", "kw.hotstripes foo"}) {
    CHECK(peer.ask(wrong) == "-ERR syntax error\r\n");
  }
  peer.service.statistics.reset();
  CHECK(peer.ask("kw.hotkeys") == "*0\r\n");
  // Regression: the names of locks lead to ranks as keys do, and were counted as such.
  for (int i = 0; i < 2000; ++i) peer.ask("kw.lockinfo name");
  CHECK(peer.ask("kw.hotkeys") == "*0\r\n");
}

}  // namespace
}  // namespace keyway::server
