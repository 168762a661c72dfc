// The numbers of RESP: those that Redis' string2ll accepts and rejects.
#include "keyway/kvstore/resp/numbers.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace keyway::resp {
namespace {

TEST_CASE("resp: an integer has one way to be written") {
  using Limits = std::numeric_limits<std::int64_t>;
  CHECK(parse_integer("0") == 0);
  CHECK(parse_integer("-1") == -1);
  CHECK(parse_integer("9223372036854775807") == Limits::max());
  CHECK(parse_integer("-9223372036854775808") == Limits::min());
  for (const char* none :
       {"", "-", "+1", " 1", "1 ", "01", "-0", "-01", "00", "1.0", "0x1", "a",
        "9223372036854775808", "-9223372036854775809", "99999999999999999999999999"}) {
    CAPTURE(none);
    CHECK_FALSE(parse_integer(none));
  }
  CHECK_FALSE(parse_integer(std::string_view("1\0", 2)));
}

TEST_CASE("resp: a double may be infinite, and is else a decimal") {
  CHECK(parse_real("1.5") == 1.5);
  CHECK(parse_real("-1e-3") == -0.001);
  CHECK(parse_real("10") == 10);
  CHECK(parse_real("inf") == std::numeric_limits<double>::infinity());
  CHECK(parse_real("-inf") == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(parse_real("nan").value()));
  for (const char* none : {"", "-", "infinity", "-nan", "nan(1)", ".5", "+1", "1 ", "1,5"}) {
    CAPTURE(none);
    CHECK_FALSE(parse_real(none));
  }
}

}  // namespace
}  // namespace keyway::resp
