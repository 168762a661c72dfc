// Fairness figures on histories small enough to count by hand.
#include "tools/lockbench/fairness.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

using namespace keyway::lockbench;

namespace {

using History = std::vector<std::vector<Access>>;

double jain(std::vector<std::uint64_t> shares) { return jain_index(shares); }

}  // namespace

TEST_CASE("fairness: Jain's index is 1 for equal shares and 1/n when one has all") {
  CHECK(jain({7, 7, 7, 7}) == Approx(1));
  CHECK(jain({9, 0, 0}) == Approx(1.0 / 3));
  CHECK(jain({1, 3}) == Approx(16.0 / 20));
  CHECK(jain({0, 0}) == 1);
  CHECK(jain({5}) == 1);
}

TEST_CASE("fairness: grants are counted up to and with the end of the window") {
  const std::vector<Access> accesses = {{1, 2}, {3, 5}, {6, 9}};
  CHECK(granted_until(accesses, 1) == 0);
  CHECK(granted_until(accesses, 5) == 2);
  CHECK(granted_until(accesses, kEndOfOrder) == 3);
}

TEST_CASE("fairness: nobody is passed over when each is granted at once") {
  CHECK(longest_bypass(History{{{1, 2}}, {{3, 4}}, {{5, 6}}}, 1) == 0);
}

TEST_CASE("fairness: a bypass is a grant to another between request and grant") {
  // Agent 0 asks at 1 and gets the lock at 10; agent 1 gets it at 3, 5 and 7.
  const History history = {{{1, 10}}, {{2, 3}, {4, 5}, {6, 7}}};
  CHECK(longest_bypass(history, 1) == 3);
  // Cut off at 5, two of them are known.
  CHECK(longest_bypass(history, 1, 5) == 2);
}

TEST_CASE("fairness: readers are passed over by writers, and pass over nobody") {
  const bool reads = false;
  const History history = {{{1, 10, 0, reads}}, {{2, 3}, {4, 5}}, {{1, 2, 0, reads}}};
  CHECK(longest_bypass(history, 1) == 2);
  CHECK(longest_bypass(History{{{1, 10}}, {{2, 3, 0, reads}}}, 1) == 0);
}

TEST_CASE("fairness: each lock has its own queue") {
  CHECK(longest_bypass(History{{{1, 10, 0}}, {{2, 3, 1}, {4, 5, 1}, {6, 7, 0}}}, 2) == 1);
}
