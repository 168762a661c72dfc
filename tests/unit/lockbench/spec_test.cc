// Spec files: options as TOML, and sentences that name the line that is wrong.
#include "tools/lockbench/spec.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using keyway::lockbench::parse_spec;

namespace {

using Words = std::vector<std::string>;

std::string refusal(const std::string& text) {
  const auto words = parse_spec(text, "x.toml");
  CHECK_FALSE(words.ok());
  return words.ok() ? "" : std::string(words.status().message());
}

}  // namespace

TEST_CASE("spec: every type of value becomes a word") {
  const auto words = parse_spec(
      "lock = \"gbh:lockall=off\"\nranks = 64\nfw = 0.25\ncounts = true\nforce-rma = false\n"
      "sweep = [\"P=8,16\", \"card.atomic_ns=50\"]\n",
      "x.toml");
  REQUIRE(words.ok());
  // A TOML table has no order; keys come sorted.
  CHECK(*words == Words{"--counts", "--fw=0.25", "--lock=gbh:lockall=off", "--ranks=64",
                        "--sweep=P=8,16", "--sweep=card.atomic_ns=50"});
}

TEST_CASE("spec: a wrong line is named") {
  CHECK(refusal("lock = \"gbh\"\ncolour = 1\n").find("x.toml:2: there is no option 'colour'") == 0);
  CHECK(refusal("lock = \n").find("x.toml:1: ") == 0);
  CHECK(refusal("\n[lock]\nkind = 1\n").find("x.toml:2: 'lock' must be") == 0);
  CHECK(refusal("lock = 1979-05-27\n").find("'lock' must be") != std::string::npos);
  CHECK(refusal("spec = \"y.toml\"\n").find("'spec'") != std::string::npos);
}

TEST_CASE("spec: a file that is not there is told") {
  CHECK_FALSE(keyway::lockbench::read_spec("no/such/file.toml").ok());
}
