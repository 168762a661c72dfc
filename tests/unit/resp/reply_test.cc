// Replies: as bytes in both versions, and parsed from bytes that arrive in pieces.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "keyway/kvstore/resp/reply_parser.h"
#include "keyway/kvstore/resp/reply_writer.h"
#include "keyway/locks/base/rng.h"

namespace keyway::resp {
namespace {

using Step = ReplyParser::Step;

template <class Write>
std::string written(Version version, Write&& write) {
  std::string out;
  ReplyWriter writer(out, version);
  write(writer);
  return out;
}

TEST_CASE("resp: each type, as Redis writes it in either version") {
  const auto both = [](auto&& write, std::string_view in_2, std::string_view in_3) {
    CAPTURE(in_2);
    CHECK(written(Version::kResp2, write) == in_2);
    CHECK(written(Version::kResp3, write) == in_3);
  };
  using Writer = ReplyWriter&;
  const double infinity = std::numeric_limits<double>::infinity();
  both([](Writer w) { w.simple("OK"); }, "+OK\r\n", "+OK\r\n");
  both([](Writer w) { w.error("ERR a\r\nb"); }, "-ERR a  b\r\n", "-ERR a  b\r\n");
  both([](Writer w) { w.integer(std::numeric_limits<std::int64_t>::min()); },
       ":-9223372036854775808\r\n", ":-9223372036854775808\r\n");
  both([](Writer w) { w.bulk("a\r\nb"); }, "$4\r\na\r\nb\r\n", "$4\r\na\r\nb\r\n");
  both([](Writer w) { w.bulk(""); }, "$0\r\n\r\n", "$0\r\n\r\n");
  both([](Writer w) { w.null(); }, "$-1\r\n", "_\r\n");
  both([](Writer w) { w.null_array(); }, "*-1\r\n", "_\r\n");
  both([](Writer w) { w.boolean(true); }, ":1\r\n", "#t\r\n");
  both([](Writer w) { w.boolean(false); }, ":0\r\n", "#f\r\n");
  both([](Writer w) { w.real(0.1); }, "$19\r\n0.10000000000000001\r\n", ",0.10000000000000001\r\n");
  both([](Writer w) { w.real(3); }, "$1\r\n3\r\n", ",3\r\n");
  both([=](Writer w) { w.real(-infinity); }, "$4\r\n-inf\r\n", ",-inf\r\n");
  both([](Writer w) { w.real(std::nan("")); }, "$3\r\nnan\r\n", ",nan\r\n");
  both([](Writer w) { w.big_number("123"); }, "$3\r\n123\r\n", "(123\r\n");
  both([](Writer w) { w.verbatim("txt", "a"); }, "$1\r\na\r\n", "=5\r\ntxt:a\r\n");
  both([](Writer w) { w.array(2); }, "*2\r\n", "*2\r\n");
  both([](Writer w) { w.map(2); }, "*4\r\n", "%2\r\n");
  both([](Writer w) { w.set(2); }, "*2\r\n", "~2\r\n");
  both([](Writer w) { w.push(2); }, "*2\r\n", ">2\r\n");
}

TEST_CASE("resp: bytes that are written in parts are the same, and others run between the parts") {
  const std::string bytes = "a value of some length";
  for (const std::size_t part : {std::size_t{1}, std::size_t{5}, bytes.size(), bytes.size() + 1}) {
    CAPTURE(part);
    std::size_t between = 0;
    const auto in_parts = [&](ReplyWriter& w) { w.bulk_in_parts(bytes, part, [&] { ++between; }); };
    CHECK(written(Version::kResp2, in_parts) ==
          written(Version::kResp2, [&](ReplyWriter& w) { w.bulk(bytes); }));
    CHECK(between == (bytes.size() - 1) / part);
  }
}

/// A reply as text, by which two are compared.
std::string described(std::span<const Reply> nodes) {
  std::string text;
  for (const Reply& node : nodes) {
    text += std::to_string(static_cast<int>(node.kind)) + '/' + std::to_string(node.integer) + '/' +
            std::to_string(node.real) + '/' + std::string(node.format) + '/' +
            std::string(node.text) + ';';
  }
  return text;
}

struct Told {
  std::vector<std::string> replies;
  std::string error;
  bool operator==(const Told&) const = default;
};

Told told_in_pieces(std::string_view bytes, const std::vector<std::size_t>& cuts) {
  ReplyParser parser;
  Told all;
  std::string buffer;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    const std::size_t to = i < cuts.size() ? cuts[i] : bytes.size();
    std::string moved = buffer;
    moved += bytes.substr(from, to - from);
    buffer = std::move(moved);
    from = to;
    for (Step step = Step::kReply; step == Step::kReply && all.error.empty();) {
      step = parser.parse(buffer);
      if (step == Step::kReply) all.replies.push_back(described(parser.nodes()));
      if (step == Step::kError) all.error = parser.error();
      buffer.erase(0, parser.consumed());
    }
  }
  return all;
}

constexpr std::string_view kEverything =
    "+OK\r\n-ERR no\r\n:-5\r\n$-1\r\n*-1\r\n_\r\n#t\r\n#f\r\n,1.5\r\n,inf\r\n(123\r\n"
    "=5\r\ntxt:a\r\n!6\r\nERR no\r\n*0\r\n%0\r\n"
    "*3\r\n*2\r\n:1\r\n*0\r\n$4\r\na\r\nb\r\n%2\r\n+a\r\n:1\r\n+b\r\n~1\r\n$0\r\n\r\n"
    ">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n"
    "|1\r\n+ttl\r\n*1\r\n:5\r\n*2\r\n:1\r\n|1\r\n+a\r\n+b\r\n:2\r\n";

TEST_CASE("resp: every type is read, and attributes are left out") {
  const Told all = told_in_pieces(kEverything, {});
  CHECK(all.error.empty());
  REQUIRE(all.replies.size() == 18);
  CHECK(all.replies[1] == "1/0/0.000000//ERR no;");
  CHECK(all.replies[8] == "7/0/1.500000//1.5;");
  CHECK(all.replies[11] == "9/0/0.000000/txt/a;");
  CHECK(all.replies[17] == "5/2/0.000000//;2/1/0.000000//;2/2/0.000000//;");
}

TEST_CASE("resp: bytes of replies may come in any pieces") {
  const Told whole = told_in_pieces(kEverything, {});
  for (std::size_t first = 0; first <= kEverything.size(); ++first) {
    for (std::size_t second = first; second <= kEverything.size(); ++second) {
      REQUIRE(told_in_pieces(kEverything, {first, second}) == whole);
    }
  }
}

TEST_CASE("resp: the extent of a tree tells where the next begins") {
  ReplyParser parser;
  REQUIRE(parser.parse("*3\r\n*2\r\n:1\r\n*0\r\n%1\r\n+k\r\n:2\r\n:3\r\n") == Step::kReply);
  const auto nodes = parser.nodes();
  REQUIRE(nodes.size() == 8);
  CHECK(extent(nodes) == 8);
  CHECK(extent(nodes.subspan(1)) == 3);
  CHECK(extent(nodes.subspan(4)) == 3);
  CHECK(extent(nodes.subspan(7)) == 1);
}

TEST_CASE("resp: malformed replies are refused") {
  for (const char* bytes :
       {"\r\n", "OK\r\n", ":x\r\n", ":\r\n", "$x\r\n", "$-2\r\n", "$1\r\nab\r\n", "*-2\r\n",
        "*x\r\n", "%-1\r\n", "#x\r\n", ",x\r\n", "_x\r\n", "=3\r\ntxt\r\n", "=5\r\ntxtab\r\n",
        "+OK\rx", "$99999999999999\r\n", "*9223372036854775807\r\n", "!-1\r\n"}) {
    CAPTURE(bytes);
    CHECK_FALSE(told_in_pieces(bytes, {}).error.empty());
  }
  CHECK(told_in_pieces(std::string(70'000, '+'), {}).error == "a line of a reply is too long");
}

TEST_CASE("P1, P2: neither a count nor a depth that is announced takes much") {
  ReplyParser many;
  CHECK(many.parse("*4000000000000000000\r\n:1\r\n") == Step::kMore);
  std::string deep;
  for (std::size_t i = 0; i < ReplyParser::kMaxDepth; ++i) deep += "*1\r\n";
  ReplyParser deepest;
  CHECK(deepest.parse(deep + ":1\r\n") == Step::kReply);
  ReplyParser deeper;
  CHECK(deeper.parse(deep + "*1\r\n") == Step::kError);
}

/// Writes a tree and appends what the parser is to find.
void draw(Rng& rng, ReplyWriter& writer, std::vector<Reply>& nodes, int depth) {
  static const std::string kText("a\r\n\0b", 6);
  const std::uint64_t elements = rng.below(6);
  const auto below = [&](std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) draw(rng, writer, nodes, depth + 1);
  };
  const auto integer = static_cast<std::int64_t>(rng());
  switch (rng.below(depth < 5 ? 10 : 7)) {
    case 0: nodes.push_back({.kind = Kind::kSimple, .text = "OK"}); return writer.simple("OK");
    case 1: nodes.push_back({.kind = Kind::kError, .text = "ERR"}); return writer.error("ERR");
    case 2:
      nodes.push_back({.kind = Kind::kInteger, .integer = integer});
      return writer.integer(integer);
    case 3: nodes.push_back({.kind = Kind::kBulk, .text = kText}); return writer.bulk(kText);
    case 4: nodes.push_back({}); return writer.null();
    case 5: nodes.push_back({.kind = Kind::kBoolean, .integer = 1}); return writer.boolean(true);
    case 6:
      nodes.push_back({.kind = Kind::kVerbatim, .text = kText, .format = "mkd"});
      return writer.verbatim("mkd", kText);
    case 7:
      nodes.push_back({.kind = Kind::kArray, .integer = static_cast<std::int64_t>(elements)});
      writer.array(elements);
      return below(elements);
    case 8:
      nodes.push_back({.kind = Kind::kMap, .integer = static_cast<std::int64_t>(2 * elements)});
      writer.map(elements);
      return below(2 * elements);
    default:
      nodes.push_back({.kind = Kind::kSet, .integer = static_cast<std::int64_t>(elements)});
      writer.set(elements);
      return below(elements);
  }
}

TEST_CASE("resp: what the writer writes the parser reads") {
  Rng rng(3);
  std::size_t largest = 0;
  for (int run = 0; run < 2000; ++run) {
    std::string bytes;
    ReplyWriter writer(bytes, Version::kResp3);
    std::vector<Reply> nodes;
    draw(rng, writer, nodes, 0);
    largest = std::max(largest, nodes.size());
    const Told once = told_in_pieces(bytes, {rng.below(bytes.size() + 1)});
    REQUIRE(once.error.empty());
    REQUIRE(once.replies == std::vector{described(nodes)});
  }
  CHECK(largest > 50);
}

TEST_CASE("resp: a reply that was begun can be taken back") {
  std::string bytes;
  ReplyWriter writer(bytes);
  writer.integer(1);
  const std::size_t before = writer.mark();
  writer.array(2);
  writer.bulk("a");
  writer.back_to(before);
  writer.error("ERR no");
  CHECK(bytes == ":1\r\n-ERR no\r\n");
}

TEST_CASE("resp: what is known only at the end is put before what was written") {
  std::string bytes;
  ReplyWriter writer(bytes);
  writer.integer(1);
  const std::size_t mark = writer.mark();
  writer.bulk("a");
  writer.bulk("b");
  writer.put_before(mark, "*2\r\n");
  CHECK(bytes == ":1\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n");
}

/// Allows so much, in steps.
struct Budget final : ReplyBudget {
  std::size_t limit;
  std::size_t step;
  int asked = 0;
  Budget(std::size_t limit_is, std::size_t step_is) : limit(limit_is), step(step_is) {}
  std::size_t allow(std::size_t needed) override {
    ++asked;
    return needed > limit ? 0 : std::min(limit, needed + step);
  }
  std::size_t most() const override { return limit; }
};

TEST_CASE("A1, A2: nothing is written beyond the budget, whatever the type, nor after it") {
  const std::string text(100, 'x');
  for (const Version version : {Version::kResp2, Version::kResp3}) {
    for (int type = 0; type < 9; ++type) {
      CAPTURE(type);
      Budget budget(150, 0);
      std::string bytes;
      ReplyWriter writer(bytes, version, budget, 0);
      while (bytes.size() <= budget.limit && !writer.is_dropped()) {
        switch (type) {
          case 0: writer.simple("OK"); break;
          case 1: writer.error(text); break;
          case 2: writer.integer(-7); break;
          case 3: writer.bulk(text); break;
          case 4: writer.null(); break;
          case 5: writer.null_array(); break;
          case 6: writer.verbatim("txt", text); break;
          case 7: writer.map(3); break;
          default: writer.put_before(writer.mark(), "*1\r\n"); break;
        }
      }
      CHECK(writer.is_dropped());
      CHECK(bytes.size() <= budget.limit);
      const std::string before = bytes;
      writer.null();
      writer.put_before(0, ":1\r\n");
      CHECK(bytes == before);
    }
  }
}

TEST_CASE("resp: who takes a dropped reply back may write again") {
  Budget budget(50, 0);
  std::string bytes;
  ReplyWriter writer(bytes, Version::kResp2, budget, 0);
  writer.simple("OK");
  const std::size_t before = writer.mark();
  writer.array(2);
  writer.bulk(std::string(100, 'x'));
  REQUIRE(writer.is_dropped());
  const std::size_t behind = writer.mark();  // part of a command without knowledge of it
  CHECK_FALSE(writer.is_error(behind));
  writer.back_to(behind);
  CHECK(writer.is_dropped());
  writer.error("ERR no");
  writer.back_to(before);
  CHECK_FALSE(writer.is_dropped());
  writer.error("ERR no");
  CHECK(bytes == "+OK\r\n-ERR no\r\n");
}

TEST_CASE("A1: a buffer that grows to its limit, and its copy meanwhile, take no more than that") {
  constexpr std::size_t kLimit = 1 << 20;
  for (const std::size_t element : {10, 1000, 300'000}) {
    CAPTURE(element);
    Budget budget(kLimit, 1 << 16);
    std::string bytes;
    ReplyWriter writer(bytes, Version::kResp2, budget, 1 << 15);
    const std::string value(element, 'x');
    std::size_t copied = 0;
    while (!writer.is_dropped()) {
      const std::size_t capacity = bytes.capacity();
      const std::size_t size = bytes.size();
      writer.bulk(value);
      if (bytes.capacity() == capacity) continue;
      copied += size;
      REQUIRE(2 * size <= kLimit);  // the moment at which both are there
      REQUIRE(bytes.capacity() <= kLimit);
    }
    CHECK(bytes.size() > kLimit - 2 * element - 100);
    CHECK(copied <= 2 * kLimit);
    CHECK(budget.asked <= 2 + static_cast<int>(kLimit >> 16));
  }
}

}  // namespace
}  // namespace keyway::resp
