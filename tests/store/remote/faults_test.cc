// A session of a server that dies, stalls, sends it on, is slower than others, or holds keys that
// the store cannot have.
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "keyway/client/client.h"
#include "tests/support/fake_server.h"

using namespace keyway;
using test::FakePeer;
using test::FakeServer;
using Words = std::vector<std::string>;

namespace {

Store open_store(std::uint16_t port, const std::string& parameters = "") {
  auto store = Store::open("redis://127.0.0.1:" + std::to_string(port) + parameters);
  INFO(store.status().message());
  REQUIRE(store.ok());
  return std::move(*store);
}

/// Answers as a server that is alone, until the request comes that begins with `word`, which is
/// returned; none when the client has gone.
Words serve_until(FakePeer& peer, std::string_view word) {
  for (;;) {
    Words words = peer.request();
    if (words.empty() || words[0] == word) return words;
    if (words[0] == "PING") peer.say("+PONG\r\n");
    if (words[0] == "ASKING") peer.say("+OK\r\n");
    if (words[0] == "CLUSTER") peer.say("-ERR This instance has cluster support disabled\r\n");
  }
}

void check_message(const Status& status, Code code, std::string_view says) {
  const std::string message(status.message());
  CAPTURE(message);
  CHECK(status.code() == code);
  CHECK(message.find(says) != std::string::npos);
}

}  // namespace

TEST_CASE("remote faults: a write whose answer does not come is in doubt, and is not sent again") {
  FakeServer server([](FakePeer& peer, int nth) {
    const Words words = serve_until(peer, "SET");
    if (!words.empty() && nth > 1) peer.say("-ERR sent twice\r\n");  // X1
  });
  Store store = open_store(server.port(), "?timeout=300ms");
  Session session = *store.session();
  check_message(session.put("k", "v"), Code::kUnavailable, "it may have taken effect, or not");
}

TEST_CASE("remote faults: a read whose answer does not come is asked again, on a new connection") {
  FakeServer server([](FakePeer& peer, int nth) {
    if (serve_until(peer, "GET").empty() || nth == 1) return;  // 0 is the store's own, 1 breaks
    peer.say("$1\r\nv\r\n");
    peer.wait_until_gone();
  });
  Store store = open_store(server.port());
  Session session = *store.session();
  const auto value = session.get("k");
  INFO(value.status().message());
  REQUIRE(value.ok());
  CHECK(*value == "v");
  CHECK(server.connections() == 3);
}

TEST_CASE("remote faults: a server that stalls is told with what is in doubt") {
  FakeServer server([](FakePeer& peer, int) {
    serve_until(peer, "APPEND");
    peer.wait_until_gone();
  });
  Store store = open_store(server.port(), "?timeout=200ms");
  Session session = *store.session();
  const auto length = session.append("k", "v");
  check_message(length.status(), Code::kTimeout, "did not answer in time; the request was sent");
}

TEST_CASE("remote faults: garbage is no value") {
  FakeServer server([](FakePeer& peer, int) {
    serve_until(peer, "GET");
    peer.say("\x01\x02 garbage\r\n");
    peer.wait_until_gone();
  });
  Store store = open_store(server.port());
  Session session = *store.session();
  check_message(session.get("k").status(), Code::kCorruption, "sent a malformed reply");
}

TEST_CASE("remote faults: nothing is sent to a server that is not there") {
  std::uint16_t port = 0;
  {
    const test::BoundSocket nobody;
    port = nobody.port();
  }
  check_message(Store::open("redis://127.0.0.1:" + std::to_string(port)).status(),
                Code::kUnavailable, "cannot connect");
}

TEST_CASE("remote faults: MOVED and ASK are followed, and what was learned is kept") {
  FakeServer other([](FakePeer& peer, int) {
    for (bool asking = false;;) {
      const Words words = peer.request();
      if (words.empty()) return;
      if (words[0] == "PING") peer.say("+PONG\r\n");
      if (words[0] == "ASKING") peer.say("+OK\r\n");
      if (words[0] == "CLUSTER") peer.say("-ERR no\r\n");
      if (words[0] == "GET") peer.say(asking ? "$5\r\nasked\r\n" : "$5\r\nmoved\r\n");
      asking = words[0] == "ASKING";
    }
  });
  const std::string there = " 127.0.0.1:" + std::to_string(other.port()) + "\r\n";
  std::atomic<int> asked{0};
  FakeServer first([&](FakePeer& peer, int) {
    for (Words words; !(words = serve_until(peer, "GET")).empty();) {
      asked.fetch_add(1, std::memory_order_relaxed);  // a count
      // Slots of "a" and "b", by CRC16.
      peer.say(words[1] == "a" ? "-ASK 15495" + there : "-MOVED 3300" + there);
    }
  });
  Store store = open_store(first.port());
  Session session = *store.session();
  CHECK(session.get("a").value() == "asked");
  CHECK(session.get("a").value() == "asked");
  CHECK(session.get("b").value() == "moved");
  CHECK(session.get("b").value() == "moved");
  CHECK(asked.load(std::memory_order_relaxed) == 3);
}

TEST_CASE("remote faults: a redirection that goes in circles ends") {
  std::uint16_t port = 0;
  FakeServer server([&port](FakePeer& peer, int) {
    for (Words words; !(words = serve_until(peer, "GET")).empty();) {
      peer.say("-ASK 15495 127.0.0.1:" + std::to_string(port) + "\r\n");
    }
  });
  port = server.port();
  Store store = open_store(port);
  Session session = *store.session();
  check_message(session.get("a").status(), Code::kUnavailable, "from server to server");
}

TEST_CASE("remote faults: who is always too late gives up in time, with nothing written") {
  FakeServer server([](FakePeer& peer, int) {
    for (Words words; !(words = serve_until(peer, "WATCH")).empty();) {
      peer.say("+OK\r\n");
      for (bool open = true; open && !(words = peer.request()).empty();) {
        open = words[0] != "EXEC";
        peer.say(words[0] == "GET"           ? "$1\r\nv\r\n"
                 : words[0] == "PEXPIRETIME" ? ":-1\r\n"
                 : open                      ? "+QUEUED\r\n"
                                             : "*-1\r\n");
      }
    }
  });
  Store store = open_store(server.port(), "?timeout=200ms");
  Session session = *store.session();
  const std::vector<std::string_view> keys = {"k"};
  const Status status = session.transact(keys, [](auto) { return true; });
  check_message(status, Code::kTimeout, "nothing was written");
}

TEST_CASE("remote faults: a scan shows the strings of a Redis only") {
  FakeServer server([](FakePeer& peer, int) {  // it holds a string and a list
    const Words words = serve_until(peer, "SCAN");
    if (words.empty()) return;
    const bool strings = words[words.size() - 2] == "TYPE" && words.back() == "string";
    peer.say(strings ? "*2\r\n$1\r\n0\r\n*1\r\n$8\r\na string\r\n"
                     : "*2\r\n$1\r\n0\r\n*2\r\n$8\r\na string\r\n$6\r\na list\r\n");
    peer.wait_until_gone();
  });
  Store store = open_store(server.port());
  Session session = *store.session();
  Words shown;
  const auto next = session.scan_keys(0, 100, [&](auto key) { shown.emplace_back(key); });
  REQUIRE(next.ok());
  CHECK(*next == 0);
  CHECK(shown == Words{"a string"});
}

TEST_CASE("remote faults: what needs the store's memory is not to be had, with a sentence") {
  FakeServer server([](FakePeer& peer, int) { serve_until(peer, ""); });
  Store store = open_store(server.port());
  Session session = *store.session();
  check_message(session.inspector().report(0).status(), Code::kUnsupported,
                "needs access to the store's memory");
  check_message(session.inspector().switch_lock(0, 0, "gbh"), Code::kUnsupported,
                "switching a lock");
  check_message(session.scan_from("k", 1, [](auto, auto) {}).status(), Code::kUnsupported, "scan");
  CHECK(session.inspector().lock_kinds(0).empty());
  CHECK(session.inspector().lock_report() == "the locks are the server's");
  CHECK(store.ranks() == 1);
  CHECK(store.owner_of("k") == 0);
}
