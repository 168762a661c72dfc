// Requests parsed from bytes that arrive in pieces, and Redis' errors for malformed ones.
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "keyway/kvstore/resp/request_parser.h"
#include "keyway/locks/base/rng.h"

namespace keyway::resp {
namespace {

using Request = std::vector<std::string>;
using Next = RequestParser::Step;

struct Parsed {
  std::vector<Request> requests;
  std::string error;
  bool operator==(const Parsed&) const = default;
};

/// As a connection does it: a buffer that grows by what comes, moves, and drops what is consumed.
class Connection {
 public:
  explicit Connection(const RequestLimits& limits = {}) : limits_(limits) {}

  void receive(std::string_view piece) {
    std::string moved = buffer_;  // other memory each time
    moved += piece;
    buffer_ = std::move(moved);
    while (parsed_.error.empty()) {
      const Next step = parser_.parse(buffer_, limits_);
      if (step == Next::kError) parsed_.error = parser_.error();
      if (step == Next::kRequest) {
        parsed_.requests.emplace_back(parser_.words().begin(), parser_.words().end());
      }
      buffer_.erase(0, parser_.consumed());
      if (step != Next::kRequest) return;
    }
  }
  const Parsed& parsed() const { return parsed_; }
  const std::string& buffer() const { return buffer_; }
  const RequestParser& parser() const { return parser_; }

 private:
  RequestLimits limits_;
  RequestParser parser_;
  std::string buffer_;
  Parsed parsed_;
};

Parsed parsed(std::string_view bytes, const RequestLimits& limits = {}) {
  Connection connection(limits);
  connection.receive(bytes);
  return connection.parsed();
}

std::string error_of(std::string_view bytes, const RequestLimits& limits = {}) {
  return parsed(bytes, limits).error;
}

TEST_CASE("resp: requests of both forms, and none without a word") {
  const auto all = parsed("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n\r\n*0\r\n*-1\r\nget  k\r\n \nping\n");
  CHECK(all.error.empty());
  CHECK(all.requests == std::vector<Request>{{"GET", "k"}, {"get", "k"}, {"ping"}});
}

TEST_CASE("resp: a word may hold anything, also what looks like a request") {
  const std::string inner("*1\r\n$1\r\na\r\n\0", 12);
  const auto one = parsed("*2\r\n$0\r\n\r\n$12\r\n" + inner + "\r\n");
  CHECK(one.requests == std::vector<Request>{{"", inner}});
}

TEST_CASE("resp: bytes may come in any pieces") {
  const std::string bytes =
      "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\na\r\nb\r\n\r\n*0\r\nget  'k '\r\n \n*1\r\n$0\r\n\r\n"
      "*2\r\n$4\r\nECHO\r\n$11\r\n*1\r\n$1\r\na\r\n\r\nquit\n";
  const Parsed whole = parsed(bytes);
  CHECK(whole.error.empty());
  CHECK(whole.requests.size() == 5);
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    for (std::size_t second = first; second <= bytes.size(); ++second) {
      Connection connection;
      connection.receive(std::string_view(bytes).substr(0, first));
      connection.receive(std::string_view(bytes).substr(first, second - first));
      connection.receive(std::string_view(bytes).substr(second));
      REQUIRE(connection.parsed() == whole);
      REQUIRE(connection.buffer().empty());
    }
  }
  Connection by_byte;
  for (const char c : bytes) by_byte.receive({&c, 1});
  CHECK(by_byte.parsed() == whole);
}

TEST_CASE("resp: what is missing of a word is told") {
  Connection connection;
  connection.receive("*2\r\n$3\r\nSET\r\n$100000\r\nabc");
  CHECK(connection.parser().missing() == 100'000 - 3 + 2);
  connection.receive("d");
  CHECK(connection.parser().missing() == 100'000 - 4 + 2);
}

TEST_CASE("resp: malformed requests are answered as Redis does") {
  const std::string_view prefix = "Protocol error: ";
  const auto says = [&](std::string_view bytes, std::string_view sentence) {
    CAPTURE(bytes, sentence);
    CHECK(error_of(bytes) == std::string(prefix) + std::string(sentence));
  };
  for (const char* bytes : {"*x\r\n", "*\r\n", "*2147483648\r\n", "*+1\r\n", "* 1\r\n", "*01\r\n",
                            "*99999999999999999999\r\n", "*1x\r\n"}) {
    says(bytes, "invalid multibulk length");
  }
  for (const char* bytes : {"*1\r\n$x\r\n", "*1\r\n$\r\n", "*1\r\n$-1\r\n", "*1\r\n$03\r\n",
                            "*1\r\n$536870913\r\n", "*1\r\n$9223372036854775807\r\n"}) {
    says(bytes, "invalid bulk length");
  }
  says("*1\r\nget\r\n", "expected '$', got 'g'");
  says("*1\r\n\r\n", "expected '$', got '\r'");
  says("*2\r\n$1\r\na\r\n:1\r\n", "expected '$', got ':'");
  says("get \"k\r\n", "unbalanced quotes in request");
  says("get 'k'k\n", "unbalanced quotes in request");
}

TEST_CASE("resp: a request is served before the error behind it") {
  const auto two = parsed("*1\r\n$4\r\nPING\r\n*1\r\n+\r\n*1\r\n$4\r\nPING\r\n");
  CHECK(two.requests == std::vector<Request>{{"PING"}});
  CHECK(two.error == "Protocol error: expected '$', got '+'");
}

TEST_CASE("Q3: a line that does not end is refused at its limit, not later") {
  const RequestLimits limits{.line_bytes = 1000};
  for (const auto& [begin, sentence] : {std::pair{"", "too big inline request"},
                                        {"*", "too big mbulk count string"},
                                        {"*1\r\n", "too big bulk count string"}}) {
    CAPTURE(sentence);
    Connection connection(limits);
    connection.receive(begin);
    connection.receive(std::string(999, '1'));
    CHECK(connection.parsed().error.empty());
    connection.receive("11");
    CHECK(connection.parsed().error == std::string("Protocol error: ") + sentence);
  }
}

TEST_CASE("resp: who has not said who he is may send little") {
  const RequestLimits stranger{.trusted = false};
  CHECK(error_of("*10\r\n", stranger).empty());
  CHECK(error_of("*11\r\n", stranger) == "Protocol error: unauthenticated multibulk length");
  CHECK(error_of("*1\r\n$16384\r\n", stranger).empty());
  CHECK(error_of("*1\r\n$16385\r\n", stranger) == "Protocol error: unauthenticated bulk length");
}

TEST_CASE("resp: the line of who has not said who he is has few words, also when it comes whole") {
  const RequestLimits stranger{.trusted = false};
  const std::string longest(4096, 'x');
  CHECK(error_of(longest + "\r\n", stranger).empty());
  const std::string longer = longest + "x";
  CHECK(error_of(longer, stranger) == "Protocol error: too big inline request");
  CHECK(error_of(longer + "\r\n", stranger) == "Protocol error: too big inline request");
  CHECK(error_of("*" + longer, stranger) == "Protocol error: too big mbulk count string");
  CHECK(error_of(longer + "\r\n").empty());
}

TEST_CASE("Q1: a count that is announced takes no memory") {
  // Two thousand million words announced: memory for them would be 32 GB.
  Connection connection;
  connection.receive("*2147483647\r\n$536870912\r\nabc");
  CHECK(connection.parsed() == Parsed{});
  CHECK(connection.parser().missing() == (512ULL << 20) - 3 + 2);
}

TEST_CASE("resp: requests ahead of the one that is executed can be taken back") {
  const std::string first = "*1\r\n$4\r\nPING\r\n";
  const std::string second = "*2\r\n$4\r\nECHO\r\n$1\r\na\r\n";
  for (const std::string behind : {"", "*2\r\n$3\r\nGET\r\n$5\r\nab", "*x\r\n", "get k"}) {
    CAPTURE(behind);
    const std::string bytes = first + second + behind;
    RequestParser parser;
    std::size_t at = 0;
    Next step = Next::kRequest;
    while (step == Next::kRequest) {
      step = parser.parse(std::string_view(bytes).substr(at), {});
      at += parser.consumed();
    }
    CHECK(at == first.size() + second.size());
    parser.rewind();
    CHECK(parser.parse(std::string_view(bytes).substr(first.size()), {}) == Next::kRequest);
    CHECK(parser.words().size() == 2);
    CHECK(parser.consumed() == second.size());
    CHECK(parser.parse(std::string_view(bytes).substr(at), {}) == step);
  }
}

TEST_CASE("resp: the words of a line are the parser's own") {
  const std::string_view bytes = "get k\r\n*1\r\n$1\r\na\r\n";
  RequestParser parser;
  REQUIRE(parser.parse(bytes, {}) == Next::kRequest);
  CHECK_FALSE(parser.in_place());
  REQUIRE(parser.parse(bytes.substr(parser.consumed()), {}) == Next::kRequest);
  CHECK(parser.in_place());
}

TEST_CASE("resp: noise ends in an error, in requests, or in waiting for more") {
  Rng rng(7);
  constexpr std::string_view kLikely = "*$\r\n0123456789-ab \"'\\x";
  std::uint64_t errors = 0, requests = 0;
  for (int run = 0; run < 20'000; ++run) {
    std::string bytes;
    const std::uint64_t size = rng.below(60);
    for (std::uint64_t i = 0; i < size; ++i) {
      bytes += rng.below(20) == 0 ? static_cast<char>(rng.below(256))
                                  : kLikely[rng.below(kLikely.size())];
    }
    const Parsed whole = parsed(bytes);
    errors += whole.error.empty() ? 0 : 1;
    requests += whole.requests.size();
    const std::size_t cut = rng.below(size + 1);
    Connection pieces;
    pieces.receive(std::string_view(bytes).substr(0, cut));
    pieces.receive(std::string_view(bytes).substr(cut));
    REQUIRE(pieces.parsed() == whole);
  }
  CHECK(errors > 1000);
  CHECK(requests > 1000);
}

}  // namespace
}  // namespace keyway::resp
