#include "keyway/workloads/properties.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

using keyway::Code;
using keyway::workloads::Properties;

namespace {

std::map<std::string, std::string> parsed(std::string_view text) {
  const auto properties = Properties::parse(text, "test");
  REQUIRE(properties.ok());
  std::map<std::string, std::string> values;
  for (const auto& [name, entry] : properties->entries()) values[name] = entry.value;
  return values;
}

using Map = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("a name ends at =, : or white space, whatever stands around them") {
  CHECK(parsed("a=1") == Map{{"a", "1"}});
  CHECK(parsed("  a  =  1") == Map{{"a", "1"}});
  CHECK(parsed("a:1") == Map{{"a", "1"}});
  CHECK(parsed("a : 1") == Map{{"a", "1"}});
  CHECK(parsed("a 1") == Map{{"a", "1"}});
  CHECK(parsed("a\t\f1") == Map{{"a", "1"}});
  CHECK(parsed("a == 1") == Map{{"a", "= 1"}});
  CHECK(parsed("a=b=c:d e") == Map{{"a", "b=c:d e"}});
  CHECK(parsed("a") == Map{{"a", ""}});
  CHECK(parsed("a=") == Map{{"a", ""}});
}

TEST_CASE("comments and blank lines are nothing") {
  CHECK(parsed("# a=1\n  ! b=2\n\n   \nc=3 # kept\n") == Map{{"c", "3 # kept"}});
  CHECK(parsed("# a comment does not go on \\\na=1") == Map{{"a", "1"}});
}

TEST_CASE("every kind of line end ends a line") {
  CHECK(parsed("a=1\r\nb=2\rc=3\nd=4") == Map{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}});
}

TEST_CASE("a backslash at the end carries a line on") {
  CHECK(parsed("a=1,\\\n    2,\\\r\n\t3\nb=4") == Map{{"a", "1,2,3"}, {"b", "4"}});
  CHECK(parsed("a=1\\\\\nb=2") == Map{{"a", "1\\"}, {"b", "2"}});
  CHECK(parsed("a=1\\\\\\\nb=2") == Map{{"a", "1\\b=2"}});
  CHECK(parsed("a=1\\") == Map{{"a", "1"}});
  CHECK(parsed("a=1\\\n# no comment") == Map{{"a", "1# no comment"}});
}

TEST_CASE("escapes stand for their characters") {
  CHECK(parsed("a=x\\ty\\nz\\\\\\q") == Map{{"a", "x\ty\nz\\q"}});
  CHECK(parsed("a=\\u0041\\u00e9\\u20AC") == Map{{"a", "A\xc3\xa9\xe2\x82\xac"}});
  CHECK(parsed("a\\=b=1") == Map{{"a=b", "1"}});
  CHECK(parsed("a\\ b\\:=1") == Map{{"a b:", "1"}});
}

TEST_CASE("the last definition wins, and knows its line") {
  const auto properties = Properties::parse("a=1\n\nb=2\\\n3\na=4\n", "file");
  REQUIRE(properties.ok());
  CHECK(properties->find("a")->value == "4");
  CHECK(properties->find("a")->origin == "file:5");
  CHECK(properties->find("b")->value == "23");
  CHECK(properties->find("b")->origin == "file:3");
  CHECK(properties->find("c") == nullptr);
}

TEST_CASE("a later file wins over an earlier one") {
  auto properties = Properties::parse("a=1\nb=2", "one");
  const auto later = Properties::parse("b=3\nc=4", "two");
  properties->merge(*later);
  CHECK(properties->find("a")->value == "1");
  CHECK(properties->find("b")->value == "3");
  CHECK(properties->find("b")->origin == "two:1");
  CHECK(properties->find("c")->value == "4");
}

TEST_CASE("what cannot be read names its place") {
  const auto no_name = Properties::parse("a=1\n=2", "file");
  CHECK(no_name.code() == Code::kInvalidArgument);
  CHECK(std::string(no_name.status().message()).find("file:2") == 0);
  CHECK_FALSE(Properties::parse("a=\\u12", "file").ok());
  CHECK_FALSE(Properties::parse("a=\\u12g4", "file").ok());
}

TEST_CASE("a file that is not there, or is a folder, is refused with its path") {
  for (const std::string path : {"no/such/workload", "."}) {
    const auto properties = Properties::read_file(path);
    CHECK(properties.code() == Code::kInvalidArgument);
    CHECK(std::string(properties.status().message()).find("'" + path + "'") != std::string::npos);
  }
}
