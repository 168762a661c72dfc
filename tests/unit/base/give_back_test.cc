#include "keyway/locks/base/give_back.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using keyway::give_back;

TEST_CASE("give_back: a large buffer's memory goes, a small one's stays, both are empty") {
  std::string text(1000, 'x');
  give_back(text, 1000);
  CHECK(text.empty());
  CHECK(text.capacity() >= 1000);
  text.assign(1001, 'x');
  give_back(text, 1000);
  CHECK(text.empty());
  CHECK(text.capacity() < 100);
  std::vector<int> numbers(1001);
  give_back(numbers, 1000);
  CHECK(numbers.capacity() == 0);
}
