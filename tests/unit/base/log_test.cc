#include "keyway/locks/base/log.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <string>

#include "tests/support/child.h"

namespace {

// The level is read once per process, so each case is a separate child process.
std::string logged(const char* level, const std::function<void()>& body) {
  const auto child = keyway::test::run_in_child([&] {
    if (level) {
      setenv("KEYWAY_LOG", level, 1);
    } else {
      unsetenv("KEYWAY_LOG");
    }
    body();
  });
  REQUIRE(child.signal == 0);
  return child.error;
}

void one_line_of_each() {
  keyway::log::debug("a debug line");
  keyway::log::info("an info line");
  keyway::log::warning("a warning line");
  keyway::log::error("an error line");
}

}  // namespace

TEST_CASE("warnings and errors are logged unless something else is asked for") {
  const auto text = logged(nullptr, one_line_of_each);
  CHECK_THAT(text, !Catch::Contains("info line") && !Catch::Contains("debug line"));
  CHECK_THAT(text, Catch::Contains("warning") && Catch::Contains("a warning line\n") &&
                       Catch::Contains("an error line\n"));
}

TEST_CASE("KEYWAY_LOG chooses the level") {
  CHECK_THAT(logged("debug", one_line_of_each),
             Catch::Contains("a debug line") && Catch::Contains("an info line"));
  CHECK_THAT(logged("error", one_line_of_each),
             !Catch::Contains("a warning line") && Catch::Contains("an error line"));
  CHECK(logged("off", one_line_of_each).empty());
}

TEST_CASE("a KEYWAY_LOG that names no level is said to be one, and silences nothing") {
  const auto text = logged("loud", one_line_of_each);
  CHECK_THAT(text,
             Catch::Contains("KEYWAY_LOG=loud is not a level: write trace, debug, info, warning"));
  CHECK_THAT(text, Catch::Contains("a warning line") && !Catch::Contains("an info line"));
  CHECK_THAT(logged("", one_line_of_each),
             Catch::Contains("a warning line") && !Catch::Contains("KEYWAY_LOG"));
}

TEST_CASE("enabled() says what would be written") {
  const auto text = logged("info", [] {
    using keyway::log::Level;
    const bool right = keyway::log::enabled(Level::kInfo) && keyway::log::enabled(Level::kError) &&
                       !keyway::log::enabled(Level::kDebug);
    keyway::log::error(right ? "as asked" : "not as asked");
  });
  CHECK_THAT(text, Catch::Contains(": as asked"));
}

TEST_CASE("the origin stands before every line") {
  const auto text = logged("info", [] {
    keyway::log::set_origin("rank 3");
    keyway::log::info("joined");
  });
  CHECK_THAT(text, Catch::Contains("keyway rank 3: joined"));
}

TEST_CASE("braces in a line are text, not a format") {
  CHECK_THAT(logged("info", [] { keyway::log::info("{} and {0}"); }),
             Catch::Contains("{} and {0}"));
}
