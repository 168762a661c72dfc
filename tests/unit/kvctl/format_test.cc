// Replies as text. tests/system/kvctl compares them with the output of redis-cli.
#include "tools/kvctl/format/format.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "keyway/kvstore/resp/line_words.h"

using namespace keyway;
using namespace keyway::kvctl;

namespace {

std::string text_of(std::string_view bytes, Style style) {
  resp::ReplyParser parser;
  REQUIRE(parser.parse(bytes) == resp::ReplyParser::Step::kReply);
  std::string text;
  append_reply(parser.nodes(), style, text);
  return text;
}

std::string in_quotes(std::string_view bytes) {
  std::string text;
  append_quoted(bytes, text);
  return text;
}

constexpr std::string_view kNested =
    "*5\r\n:1\r\n*2\r\n$1\r\na\r\n*0\r\n%1\r\n+k\r\n~2\r\n,1.50\r\n#t\r\n-ERR no\r\n_\r\n";

}  // namespace

TEST_CASE("kvctl: quoted bytes are read back as the same bytes") {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  std::vector<std::string> words;
  REQUIRE(resp::split_line(in_quotes(all), words));
  CHECK(words == std::vector<std::string>{all});
  CHECK(in_quotes("a\"\\\n\r\t\a\b\x7f\xc3") == R"("a\"\\\n\r\t\a\b\x7f\xc3")");
}

TEST_CASE("kvctl: pretty replies number their elements and line up") {
  CHECK(text_of("+OK\r\n", Style::kPretty) == "OK\n");
  CHECK(text_of("$-1\r\n", Style::kPretty) == "(nil)\n");
  CHECK(text_of("%0\r\n", Style::kPretty) == "(empty hash)\n");
  CHECK(text_of("(123\r\n", Style::kPretty) == "(big number) 123\n");
  CHECK(text_of(kNested, Style::kPretty) ==
        "1) (integer) 1\n"
        "2) 1) \"a\"\n"
        "   2) (empty array)\n"
        "3) 1# k => \n"
        "      1~ (double) 1.50\n"
        "      2~ (true)\n"
        "4) (error) ERR no\n"
        "5) (nil)\n");
  std::string ten = "*10\r\n";
  for (int i = 0; i < 10; ++i) ten += "+x\r\n";
  CHECK(text_of(ten, Style::kPretty).starts_with(" 1) x\n 2) x\n"));
  CHECK(text_of(ten, Style::kPretty).ends_with("\n10) x\n"));
}

TEST_CASE("kvctl: raw replies are their bytes") {
  CHECK(text_of(std::string_view("$3\r\n\0\"\n\r\n", 9), Style::kRaw) ==
        std::string_view("\0\"\n\n", 4));
  CHECK(text_of("$-1\r\n", Style::kRaw) == "\n");
  CHECK(text_of("-ERR no\r\n", Style::kRaw) == "ERR no\n\n");
  CHECK(text_of("%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n", Style::kRaw) == "a 1\nb 2\n");
}

TEST_CASE("kvctl: CSV is one line") {
  CHECK(text_of(kNested, Style::kCsv) == "1,\"a\",,\"k\",1.50,true,ERROR,\"ERR no\",NULL\n");
}

TEST_CASE("kvctl: JSON is JSON, whatever the reply") {
  CHECK(text_of(kNested, Style::kJson) ==
        "[1,[\"a\",[]],{\"k\":[1.50,true]},{\"error\":\"ERR no\"},null]\n");
  CHECK(text_of("$2\r\n\xff\x01\r\n", Style::kJson) == "\"\xef\xbf\xbd\\u0001\"\n");
  CHECK(text_of(",inf\r\n", Style::kJson) == "\"inf\"\n");
  CHECK(text_of("%1\r\n*1\r\n:1\r\n+v\r\n", Style::kJson) == "{\"[1]\":\"v\"}\n");
  for (const std::string_view bytes :
       {kNested, std::string_view("=7\r\ntxt:a\"b\r\n"), std::string_view("~1\r\n,nan\r\n")}) {
    CHECK_NOTHROW(nlohmann::json::parse(text_of(bytes, Style::kJson)));
  }
}

TEST_CASE("kvctl: what is text in lines is told by the command") {
  using Words = std::vector<std::string>;
  CHECK(is_answered_in_lines(Words{"INFO", "memory"}));
  CHECK(is_answered_in_lines(Words{"Cluster", "nodes"}));
  CHECK_FALSE(is_answered_in_lines(Words{"cluster", "shards"}));
  CHECK_FALSE(is_answered_in_lines(Words{"get", "info"}));
  CHECK_FALSE(is_answered_in_lines(Words{}));
}
