#include "keyway/locks/base/clear_and_shrink.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using keyway::clear_and_shrink;

TEST_CASE("clear_and_shrink: a large buffer's memory goes, a small one's stays, both are empty") {
  std::string text(1000, 'x');
  clear_and_shrink(text, 1000);
  CHECK(text.empty());
  CHECK(text.capacity() >= 1000);
  text.assign(1001, 'x');
  clear_and_shrink(text, 1000);
  CHECK(text.empty());
  CHECK(text.capacity() < 100);
  std::vector<int> numbers(1001);
  clear_and_shrink(numbers, 1000);
  CHECK(numbers.capacity() == 0);
}
