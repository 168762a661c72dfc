// The file of lines of former sessions.
#include "tools/kvctl/shell/history_file.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

using namespace keyway::kvctl;

TEST_CASE("kvctl: lines of the history come back, and only their owner reads them") {
  const keyway::test::TemporaryFolder folder;
  CHECK(load_history(folder.file("history")).empty());
  { std::ofstream(folder.file("history")) << "get a\n"; }
  ::chmod(folder.file("history").c_str(), 0644);
  REQUIRE(append_history(folder.file("history"), "set a \"b c\"").ok());
  CHECK(load_history(folder.file("history")) == std::vector<std::string>{"get a", "set a \"b c\""});
  struct stat file {};
  REQUIRE(::stat(folder.file("history").c_str(), &file) == 0);
  CHECK((file.st_mode & 0777) == 0600);
}

TEST_CASE("kvctl: a long history is cut to its last lines") {
  const keyway::test::TemporaryFolder folder;
  {
    std::ofstream file(folder.file("history"));
    for (std::size_t i = 0; i < 5 * kMaxHistoryLines; ++i) file << "get " << i << '\n';
  }
  for (int again = 0; again < 2; ++again) {
    const auto lines = load_history(folder.file("history"));
    REQUIRE(lines.size() == kMaxHistoryLines);
    CHECK(lines.front() == "get 4000");
    CHECK(lines.back() == "get 4999");
  }
  std::size_t left = 0;
  std::ifstream file(folder.file("history"));
  for (std::string line; std::getline(file, line);) ++left;
  CHECK(left == kMaxHistoryLines);
}

TEST_CASE(
    "kvctl: a history that cannot be written is said in a sentence; none is kept if not wanted") {
  CHECK_FALSE(append_history("/nonexistent/history", "get a").ok());
  CHECK(append_history("", "get a").ok());
}
