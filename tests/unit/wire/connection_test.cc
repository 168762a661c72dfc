// Connections: requests and answers, and a sentence for each way in which they fail.
#include "keyway/client/wire/connection.h"

#include <fcntl.h>

#include <catch2/catch.hpp>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/fake_server.h"

using namespace keyway;
using namespace keyway::wire;
using namespace std::chrono_literals;
using test::FakePeer;
using test::FakeServer;
using Words = std::vector<std::string>;

namespace {

constexpr auto kSoon = 200ms;    // for waits that end by their deadline
constexpr auto kLong = 20000ms;  // for waits that do not

Options options_for(std::uint16_t port) {
  Options options;
  options.port = port;
  options.connect_timeout = kLong;
  options.request_timeout = kLong;
  return options;
}

Connection open(const Options& options) {
  auto opened = Connection::open(options);
  INFO(opened.status().message());
  REQUIRE(opened.ok());
  return std::move(*opened);
}

void check_fails(const Status& status, Code code, std::string_view says) {
  const std::string message(status.message());
  CAPTURE(message);
  CHECK(status.code() == code);
  CHECK(message.find("127.0.0.1") != std::string::npos);
  CHECK(message.find(says) != std::string::npos);
}

void check_open_fails(const Options& options, Code code, std::string_view says) {
  check_fails(Connection::open(options).status(), code, says);
}

}  // namespace

TEST_CASE("wire: a request and its reply, then a batch in order") {
  FakeServer server([](FakePeer& peer, int) {
    if (!peer.greet()) return;
    if (peer.request() == Words{"GET", "a b\r\n"}) peer.say("$3\r\nAda\r\n");
    const Words first = peer.request();
    const Words second = peer.request();
    if (first == Words{"INCR", "x"} && second == Words{"NO"}) peer.say(":1\r\n-ERR what\r\n");
    peer.wait_until_gone();
  });
  Connection connection = open(options_for(server.port()));
  const auto reply = connection.ask({"GET", "a b\r\n"});
  REQUIRE(reply.ok());
  CHECK(reply->front().text == "Ada");
  connection.add({"INCR", "x"});
  connection.add({"NO"});
  CHECK(connection.unsent() == 2);
  REQUIRE(connection.send().ok());
  CHECK(connection.in_doubt() == 2);
  CHECK(connection.receive()->front().integer == 1);
  CHECK(connection.has_news());
  CHECK(connection.descriptor() >= 0);
  const auto error = connection.receive();
  REQUIRE(error.ok());
  CHECK_FALSE(connection.has_news());
  CHECK(error->front().kind == resp::Kind::kError);
  CHECK(connection.in_doubt() == 0);
  CHECK_FALSE(connection.broken());
}

TEST_CASE("wire: a reply may come in pieces, with pushes between") {
  const std::string big(3 << 20, 'v');
  FakeServer server([&](FakePeer& peer, int) {
    if (!peer.greet()) return;
    peer.request();
    peer.say(">1\r\n+news\r\n*2\r\n$3\r\nA");
    peer.say("da\r\n$" + std::to_string(big.size()) + "\r\n" + big);
    peer.say("\r\n");
    peer.request();
    peer.say("+OK\r\n");
    peer.wait_until_gone();
  });
  Connection connection = open(options_for(server.port()));
  const auto reply = connection.ask({"MGET", "a", "b"});
  REQUIRE(reply.ok());
  REQUIRE(reply->size() == 3);
  CHECK((*reply)[1].text == "Ada");
  CHECK((*reply)[2].text == big);
  CHECK(connection.ask({"PING"})->front().text == "OK");
}

TEST_CASE("wire: password, version, name and database are said first") {
  std::promise<std::vector<Words>> heard;
  FakeServer server([&](FakePeer& peer, int) {
    std::vector<Words> all;
    for (int i = 0; i < 3; ++i) {
      all.push_back(peer.request());
      peer.say("+OK\r\n");
    }
    heard.set_value(all);
    peer.wait_until_gone();
  });
  Options options = options_for(server.port());
  options.client_name = "loader";
  options.database = 2;
  std::vector<Words> expected;
  SECTION("RESP3") {
    options.version = resp::Version::kResp3;
    options.password = "secret";
    expected = {{"HELLO", "3", "AUTH", "default", "secret"},
                {"CLIENT", "SETNAME", "loader"},
                {"SELECT", "2"}};
  }
  SECTION("RESP2") {
    options.user = "ada";
    options.password = "secret";
    options.database = 0;
    expected = {{"AUTH", "ada", "secret"}, {"PING"}, {"CLIENT", "SETNAME", "loader"}};
  }
  open(options);
  CHECK(heard.get_future().get() == expected);
}

TEST_CASE("wire: who refuses, stalls or is no server has a sentence as it is opened") {
  SECTION("nobody listens") {
    const test::BoundSocket bound;
    check_open_fails(options_for(bound.port()), Code::kUnavailable, "refused");
  }
  SECTION("nobody accepts") {
    const test::BoundSocket bound;
    bound.listen(0);
    std::vector<int> queue;  // fills the kernel's
    const sockaddr_in at{.sin_family = AF_INET,
                         .sin_port = htons(bound.port()),
                         .sin_addr = {htonl(INADDR_LOOPBACK)}};
    for (int i = 0; i < 4; ++i) {
      queue.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
      static_cast<void>(::connect(queue.back(), reinterpret_cast<const sockaddr*>(&at), sizeof at));
    }
    Options options = options_for(bound.port());
    options.connect_timeout = kSoon;
    check_open_fails(options, Code::kTimeout, "did not answer within 200 ms");
    for (const int fd : queue) ::close(fd);
  }
  SECTION("it accepts and says nothing") {
    FakeServer server([](FakePeer& peer, int) { peer.wait_until_gone(); });
    Options options = options_for(server.port());
    options.connect_timeout = kSoon;
    check_open_fails(options, Code::kTimeout, "accepted the connection and did not answer");
  }
  SECTION("it closes") {
    FakeServer server([](FakePeer&, int) {});
    check_open_fails(options_for(server.port()), Code::kUnavailable, "before the first reply");
  }
  SECTION("it speaks something else") {
    FakeServer server([](FakePeer& peer, int) {
      peer.say("HTTP/1.1 400 Bad Request\r\n\r\n");
      peer.wait_until_gone();
    });
    check_open_fails(options_for(server.port()), Code::kInvalidArgument, "is it the right port");
  }
}

TEST_CASE("wire: what the server answers first may forbid all") {
  struct Case {
    std::string_view answer;
    Code code;
    std::string_view says;
  };
  const Case cases[] = {
      {"-NOAUTH Authentication required.\r\n", Code::kInvalidArgument, "wants a password"},
      {"-WRONGPASS invalid username-password pair or user is disabled.\r\n", Code::kInvalidArgument,
       "refused the password or the user"},
      {"-LOADING Redis is loading the dataset in memory\r\n", Code::kUnavailable, "busy"},
      {"-ERR max number of clients reached\r\n", Code::kUnavailable, "busy"},
      {"-DENIED Redis is running in protected mode. More text.\r\n", Code::kInvalidArgument,
       "its own host alone (DENIED Redis is running in protected mode)"}};
  for (const Case& one : cases) {
    FakeServer server([&](FakePeer& peer, int) {
      peer.say(one.answer);
      peer.wait_until_gone();
    });
    check_open_fails(options_for(server.port()), one.code, one.says);
  }
  FakeServer old([](FakePeer& peer, int) {
    peer.request();
    peer.say("-ERR unknown command 'HELLO'\r\n");
    peer.wait_until_gone();
  });
  Options options = options_for(old.port());
  options.version = resp::Version::kResp3;
  check_open_fails(options, Code::kInvalidArgument, "does not speak RESP3");
}

TEST_CASE("wire: a server without PING will do") {
  FakeServer server([](FakePeer& peer, int) {
    peer.request();
    peer.say("-ERR unknown command 'PING', with args beginning with: \r\n");
    peer.wait_until_gone();
  });
  open(options_for(server.port()));
}

TEST_CASE("wire: a connection that fails is not used again, and knows what is in doubt") {
  std::optional<Code> code;
  std::string says;
  FakeServer server([&](FakePeer& peer, int) {
    if (!peer.greet()) return;
    peer.request();
    peer.request();
    peer.say(":1\r\n");
    if (says == "closed the connection") return;
    if (says == "sent a malformed reply") peer.say("?!\r\n");
    peer.wait_until_gone();
  });
  Options options = options_for(server.port());
  SECTION("closes in the middle") {
    code = Code::kUnavailable;
    says = "closed the connection";
  }
  SECTION("stalls") {
    code = Code::kTimeout;
    says = "did not answer in time";
    options.request_timeout = kSoon;
  }
  SECTION("sends garbage") {
    code = Code::kCorruption;
    says = "sent a malformed reply";
  }
  Connection connection = open(options);
  connection.add({"INCR", "a"});
  connection.add({"INCR", "b"});
  REQUIRE(connection.send().ok());
  REQUIRE(connection.receive().ok());
  check_fails(connection.receive().status(), *code, says);
  CHECK(connection.broken());
  CHECK(connection.in_doubt() == 1);  // W2
  connection.add({"INCR", "c"});
  check_fails(connection.send(), Code::kUnavailable, "is closed");  // W1
  CHECK(connection.unsent() == 1);
  CHECK(connection.in_doubt() == 1);
}

TEST_CASE("wire: a batch larger than the sockets hold, to a server that reads when it was read") {
  // C2: each side's buffers are full of what the other has not read yet.
  constexpr int kRequests = 200;
  const std::string big(256 << 10, 'v');
  const std::string reply = "$" + std::to_string(big.size()) + "\r\n" + big + "\r\n";
  FakeServer server([&](FakePeer& peer, int) {
    if (!peer.greet()) return;
    for (int i = 0; i < kRequests; ++i) {
      if (peer.request() != Words{"ECHO", big}) return;
      peer.say(reply);
    }
    peer.wait_until_gone();
  });
  Connection connection = open(options_for(server.port()));
  for (int i = 0; i < kRequests; ++i) connection.add({"ECHO", big});
  REQUIRE(connection.send().ok());
  for (int i = 0; i < kRequests; ++i) {
    const auto one = connection.receive();
    REQUIRE(one.ok());
    REQUIRE(one->front().text.size() == big.size());
  }
}

TEST_CASE("wire: requests that were not sent whole are not in doubt") {
  const std::string big(64 << 20, 'v');  // more than sockets hold
  std::promise<void> given_up;
  const std::shared_future<void> end = given_up.get_future().share();
  FakeServer server([&end](FakePeer& peer, int) {
    if (peer.greet()) end.wait_for(kLong);  // reads no more
  });
  Options options = options_for(server.port());
  options.request_timeout = kSoon;
  Connection connection = open(options);
  connection.add({"SET", "a", "1"});
  connection.add({"SET", "b", big});
  connection.add({"SET", "c", "1"});
  check_fails(connection.send(), Code::kTimeout, "in time");
  given_up.set_value();
  CHECK(connection.in_doubt() == 1);  // W2
  CHECK(connection.unsent() == 2);
}

TEST_CASE("wire: names are resolved, and a name that is none is told") {
  FakeServer server([](FakePeer& peer, int) {
    if (peer.greet()) peer.wait_until_gone();
  });
  Options options = options_for(server.port());
  options.host = "localhost";  // may be ::1 first, without a listener
  open(options);
  options.host = "no..such..name";  // resolved without a name server
  const auto opened = Connection::open(options);
  const std::string message(opened.status().message());
  CAPTURE(message);
  CHECK(opened.code() == Code::kUnavailable);
  CHECK(message.find("cannot resolve 'no..such..name'") != std::string::npos);
}
