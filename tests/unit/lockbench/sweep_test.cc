// Sweeps: lists written out, grids in order, and one way to name each thing that varies.
#include "tools/lockbench/sweep.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace keyway::lockbench;

namespace {

using Values = std::vector<std::string>;

Values expanded(const std::string& text) {
  auto values = expand_values(text);
  INFO(values.status().message());
  REQUIRE(values.ok());
  return *values;
}

std::vector<Point> grid(const std::vector<std::string>& words) {
  const Parsed parsed = parse_words(words);
  INFO(parsed.error);
  REQUIRE(parsed.options);
  auto points = expand_grid(*parsed.options);
  INFO(points.status().message());
  REQUIRE(points.ok());
  return *points;
}

std::string refusal(const std::vector<std::string>& words) {
  const Parsed parsed = parse_words(words);
  REQUIRE(parsed.options);
  const auto points = expand_grid(*parsed.options);
  CHECK_FALSE(points.ok());
  return points.ok() ? "" : std::string(points.status().message());
}

}  // namespace

TEST_CASE("sweep: lists are written out as they began") {
  CHECK(expanded("8,16,32,...,128") == Values{"8", "16", "32", "64", "128"});
  CHECK(expanded("1,2,3,...,6") == Values{"1", "2", "3", "4", "5", "6"});
  CHECK(expanded("10,20,...,50") == Values{"10", "20", "30", "40", "50"});
  CHECK(expanded("0.1,0.2,...,0.5") == Values{"0.1", "0.2", "0.3", "0.4", "0.5"});
  CHECK(expanded("64,32,16,...,4") == Values{"64", "32", "16", "8", "4"});
  CHECK(expanded("5") == Values{"5"});
  CHECK(expanded("gbh:a=1,b=2;d-mcs") == Values{"gbh:a=1,b=2", "d-mcs"});
}

TEST_CASE("sweep: lists that do not come out are refused") {
  for (const char* text : {"8,...,64", "8,16,...", "...,8", "8,16,32,...,100", "a,b,...,z",
                           "1,1,...,2", "3,2,...,9", "1,,2", ""}) {
    CAPTURE(text);
    CHECK_FALSE(expand_values(text).ok());
  }
}

TEST_CASE("sweep: several make a grid, the last one fastest") {
  const auto points = grid({"--lock=gbh", "--fabric=sim", "--sweep=P=8,16", "--sweep=F_W=0,0.5,1"});
  REQUIRE(points.size() == 6);
  CHECK(points[0].name() == "P=8 F_W=0");
  CHECK(points[1].name() == "P=8 F_W=0.5");
  CHECK(points[5].name() == "P=16 F_W=1");
  CHECK(points[5].run.ranks == 16);
  CHECK(points[4].run.fw == 0.5);
}

TEST_CASE("sweep: levers go on with the lock, whichever is named first") {
  const auto points =
      grid({"--sweep=lock.backoff_max_ns=2000,4000", "--sweep=lock=gbh;gbh:lockall=off"});
  REQUIRE(points.size() == 4);
  CHECK(points[0].run.lock == "gbh:backoff_max_ns=2000");
  CHECK(points[3].run.lock == "gbh:lockall=off,backoff_max_ns=4000");
}

TEST_CASE("sweep: dotted names are parameters of the machine") {
  const auto points =
      grid({"--lock=gbh", "--fabric=sim", "--set=card.read_ns=1", "--sweep=card.atomic_ns=50,100"});
  CHECK(points[1].run.settings == Values{"card.read_ns=1", "card.atomic_ns=100"});
}

TEST_CASE("sweep: a later sweep of one name replaces the earlier; none is the one run") {
  CHECK(grid({"--lock=gbh", "--sweep=P=1,2,3", "--sweep=P=4"}).size() == 1);
  const auto single = grid({"--lock=gbh"});
  REQUIRE(single.size() == 1);
  CHECK(single[0].values.empty());
}

TEST_CASE("sweep: what cannot be swept is told") {
  CHECK(refusal({"--lock=gbh", "--sweep=colour=1"}).find("colour") != std::string::npos);
  CHECK(refusal({"--lock=gbh", "--sweep=json=1"}).find("json") != std::string::npos);
  CHECK(refusal({"--lock=gbh", "--sweep=P"}).find("NAME=VALUES") != std::string::npos);
  CHECK(refusal({"--lock=gbh", "--sweep=fw=2"}).find("--fw") != std::string::npos);
  CHECK(refusal({"--sweep=lock=gbh,padlock"}).find("padlock") != std::string::npos);
  CHECK(refusal({"--lock=gbh", "--sweep=card.atomic_ns=5"}).find("--fabric sim") !=
        std::string::npos);
}
