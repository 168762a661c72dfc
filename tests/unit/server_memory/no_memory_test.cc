// E4, K3, H5: wherever a request finds no memory, it is refused, leaves no lock and loses nothing.
#include <catch2/catch.hpp>
#include <new>
#include <string>
#include <vector>

#include "keyway/kvstore/resp/request_parser.h"
#include "keyway/locks/base/clock.h"
#include "tests/store/accounting.h"
#include "tests/support/failing_memory.h"
#include "tests/unit/server/peer.h"

namespace keyway::server {
namespace {

using test::FailingMemory;

constexpr std::string_view kOom = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";
constexpr int kMaxAllocations = 2000;

/// A store with something in it, and a client.
struct Fixture {
  // One secret, so that the keys of all fixtures have one order.
  Store store = test::open_local(
      "local:?memory=16MiB&timeout=2s&hash_secret=000102030405060708090a0b0c0d0e0f");
  Executor executor{test::session_of(store), {}};
  Client client;
  Service service;

  Fixture() {
    for (const char* line :
         {"set s 'some text that is not held inline'", "set n 41", "set f 1.5", "set e x ex 1000",
          "set bits '\\xff\\x0f'", "mset k1 'value one, longer than a line holds' k2 v2 k3 v3"}) {
      ask_line(line);
    }
    const std::string large(100'000, 'x');
    ask({"set", "large", large});
  }

  std::string ask(const std::vector<std::string_view>& words) {
    std::string reply;
    resp::ReplyWriter out(reply, client.version);
    execute(client, executor, service, words, out);
    return reply;
  }
  std::string ask_line(std::string_view line) {
    std::vector<std::string> words;
    REQUIRE(resp::split_line(line, words));
    return ask(std::vector<std::string_view>(words.begin(), words.end()));
  }
  /// All that a client can see.
  std::string seen() {
    std::string all = ask_line("dbsize");
    for (const char* key :
         {"s", "n", "f", "e", "bits", "k1", "k2", "k3", "large", "new", "new2", "new3"}) {
      all += ask({"get", key}) + ask({"expiretime", key});
    }
    return all;
  }
  /// The reply, or nothing if the connection would be closed.
  std::string ask_when_failing(const std::vector<std::string_view>& words, long at) {
    std::string reply;
    resp::ReplyWriter out(reply, client.version);
    const FailingMemory fails(at);
    try {
      execute(client, executor, service, words, out);
    } catch (const std::bad_alloc&) {
      FailingMemory::stop();
      reply.clear();
    }
    return reply;
  }
};

/// A request that finds no memory for its allocation number `at`, beside one that does.
struct Attempt {
  std::string before, after, now;  // observed states
  std::string right, reply;
  bool had_all = false;
};

Attempt attempt(const std::vector<std::string_view>& words, const std::vector<std::string>& first,
                long at) {
  Attempt made;
  Fixture fixture;
  made.before = fixture.seen();
  Fixture other;
  for (const std::string& each : first) other.ask_line(each);
  made.right = other.ask(words);
  made.after = other.seen();
  for (const std::string& each : first) fixture.ask_line(each);
  made.reply = fixture.ask_when_failing(words, at);
  made.had_all = !FailingMemory::failed();
  made.now = fixture.seen();
  // No lock is kept: another session may write everywhere.
  Session writer = test::session_of(fixture.store);
  CHECK(writer.clear().ok());
  Session* const sessions[] = {&fixture.executor.session, &writer};
  test::check_heap(fixture.store, writer, sessions);
  return made;
}

/// The second that EXPIRETIME and TTL round to.
std::uint64_t second() { return (wall_ms() + 500) / 1000; }

/// An attempt within one second, so that times that count from now are the same on both stages.
Attempt attempt_at_once(const std::vector<std::string_view>& words,
                        const std::vector<std::string>& first, long at) {
  while (true) {
    const std::uint64_t began = second();
    Attempt made = attempt(words, first, at);
    if (second() == began) return made;
  }
}

/// The request once for each of its allocations, which fails; `first` are asked before it, and do
/// not fail.
void run_out_of_memory(const std::string& line, const std::vector<std::string>& first = {}) {
  INFO(line);
  std::vector<std::string> owned;
  REQUIRE(resp::split_line(line, owned));
  const std::vector<std::string_view> words(owned.begin(), owned.end());
  for (long at = 0;; ++at) {
    CAPTURE(at);
    REQUIRE(at < kMaxAllocations);
    const Attempt made = attempt_at_once(words, first, at);
    if (made.reply == made.right) {
      CHECK(made.now == made.after);  // it did without
    } else {
      CHECK((made.reply.ends_with(kOom.substr(1)) || made.reply.empty()));
      CHECK((made.now == made.before || made.now == made.after));
    }
    if (made.had_all) return;
  }
}

TEST_CASE("Q1: what a long request took is given back with the next one") {
  constexpr std::size_t kFew = 64 << 10;
  resp::RequestParser parser;
  const auto parse = [&](const std::string& bytes, std::size_t words) {
    REQUIRE(parser.parse(bytes, {}) == resp::RequestParser::Step::kRequest);
    REQUIRE(parser.words().size() == words);
  };
  std::string array = "*100000\r\n";
  std::string line;
  for (int i = 0; i < 100'000; ++i) {
    array += "$1\r\nx\r\n";
    if (i < 30'000) line += "x ";
  }
  line += "\r\n";
  const std::size_t before = test::allocated_bytes();
  for (const auto& [bytes, words] : {std::pair(&array, 100'000), std::pair(&line, 30'000)}) {
    parse(*bytes, static_cast<std::size_t>(words));
    CHECK(test::allocated_bytes() > before + kFew);
    parse("*1\r\n$4\r\nPING\r\n", 1);
    CHECK(test::allocated_bytes() < before + kFew);
  }
}

TEST_CASE("E3: what one long value took, an executor gives back") {
  constexpr std::size_t kLong = 4 << 20;
  constexpr std::size_t kModerate = 2 << 20;
  Fixture fixture;
  const std::string value(kLong, 'x');
  REQUIRE(fixture.ask({"set", "large", value}) == "+OK\r\n");
  const std::size_t before = test::allocated_bytes();
  for (const char* line :
       {"append large y", "setrange large 5 yy", "getset large z", "getdel large",
        "setrange large 4000000 y", "bitop not new large", "expire large 100", "get large",
        "getrange large -4000000 -1", "mget large new"}) {
    fixture.ask_line(line);
    INFO(line);
    CHECK(test::allocated_bytes() < before + kModerate);
  }
}

TEST_CASE("no memory: reads") {
  for (const char* line : {"get s",
                           "get large",
                           "mget s n k1 nothing",
                           "getrange s 2 5",
                           "getrange large -5 -1",
                           "strlen s",
                           "ttl e",
                           "exists s n",
                           "keys *",
                           "scan 0 match k* count 100",
                           "randomkey",
                           "lcs s k1 idx",
                           "bitcount bits",
                           "object encoding s",
                           "command docs set client",
                           "command info get",
                           "client list",
                           "echo 'some text that is longer than a short string'",
                           "dbsize",
                           "nosuch a",
                           "get",
                           "hello 3"}) {
    run_out_of_memory(line);
  }
}

TEST_CASE("no memory: a transaction is done wholly or not at all") {
  run_out_of_memory("watch s n nothing");
  const std::vector<std::string> commands = {
      "multi",          "set new 'a value that is long enough for a block'",
      "append s yyyy",  "incr n",
      "rename k2 new2", "mset k1 1 k3 'a text that is not held inline'",
      "del large bits", "client setname 'a_name_longer_than_a_short_string'",
      "get s"};
  run_out_of_memory("exec", commands);
  std::vector<std::string> watching = {"watch s 'a key with a name that is rather long' e"};
  watching.insert(watching.end(), commands.begin(), commands.end());
  run_out_of_memory("exec", watching);
  run_out_of_memory("exec", {"multi", "get s", "mget n large"});
  run_out_of_memory("exec", {"watch s", "multi", "keys *", "set new v"});
}

TEST_CASE("no memory: writes") {
  for (const char* line :
       {"set new 'a value that is long enough for a block of the heap'",
        "set s short",
        "set n 1",
        "set s 'another text that is not held inline' get",
        "append s ' and more of it'",
        "append new text",
        "setrange new 5000 x",
        "setrange s 3 y",
        "incr n",
        "incrbyfloat f 0.25",
        "expire s 100",
        "persist e",
        "getdel s",
        "getset s other",
        "getex e persist",
        "setbit new 80000 1",
        "bitop or new s bits",
        "del s n k1 k2 k3 nothing",
        "mset new 'a first value that is not held inline' new2 b s 'text that replaces the text' "
        "k1 1 k2 2 k3 3 n 'a number no longer, but words' f ff e ee bits b large l",
        "msetnx new 'a first value that is not held inline' new2 b new3 c",
        "setex new 100 v",
        "flushall",
        "unlink large",
        "set large x",
        "append large yyy"}) {
    run_out_of_memory(line);
  }
}

}  // namespace
}  // namespace keyway::server
