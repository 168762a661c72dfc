#include "keyway/workloads/outage.h"

#include <catch2/catch.hpp>

using keyway::workloads::Outage;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

}  // namespace

TEST_CASE("an outage is over its limit when failures lie that far apart") {
  Outage outage(10 * kSecond);
  CHECK_FALSE(outage.is_over_limit(1 * kSecond, 500, 0));
  CHECK_FALSE(outage.is_over_limit(2 * kSecond, 500, 3));  // it begins
  CHECK_FALSE(outage.is_over_limit(11 * kSecond, 500, 4));
  CHECK(outage.is_over_limit(12 * kSecond, 500, 5));
}

TEST_CASE("an outage ends with an operation that is served") {
  Outage outage(10 * kSecond);
  CHECK_FALSE(outage.is_over_limit(2 * kSecond, 500, 3));
  CHECK_FALSE(outage.is_over_limit(11 * kSecond, 501, 900));
  CHECK_FALSE(outage.is_over_limit(12 * kSecond, 501, 901));  // another one begins
  CHECK_FALSE(outage.is_over_limit(21 * kSecond, 501, 902));
  CHECK(outage.is_over_limit(22 * kSecond, 501, 903));
}

TEST_CASE("one failure is no outage, however long nothing follows") {
  Outage outage(10 * kSecond);
  CHECK_FALSE(outage.is_over_limit(2 * kSecond, 500, 1));
  CHECK_FALSE(outage.is_over_limit(100 * kSecond, 500, 1));
}

TEST_CASE("a store that served nothing from the start is an outage, too") {
  Outage outage(1 * kSecond);
  CHECK_FALSE(outage.is_over_limit(5 * kSecond, 0, 1));
  CHECK(outage.is_over_limit(6 * kSecond, 0, 2));
}

TEST_CASE("without a limit an outage is never over it") {
  Outage outage(0);
  CHECK_FALSE(outage.is_over_limit(1 * kSecond, 0, 1));
  CHECK_FALSE(outage.is_over_limit(1'000'000 * kSecond, 0, 2));
}
