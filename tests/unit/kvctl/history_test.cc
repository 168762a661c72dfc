// The file of lines of former sessions.
#include "tools/kvctl/shell/history_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace keyway::kvctl;

namespace {

/// A folder that goes with the test.
class Folder {
 public:
  Folder() : path_((std::filesystem::temp_directory_path() / "kvctl-XXXXXX").string()) {
    REQUIRE(::mkdtemp(path_.data()) != nullptr);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file() const { return path_ + "/history"; }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("kvctl: lines of the history come back, and only their owner reads them") {
  const Folder folder;
  CHECK(load_history(folder.file()).empty());
  { std::ofstream(folder.file()) << "get a\n"; }
  ::chmod(folder.file().c_str(), 0644);
  REQUIRE(append_history(folder.file(), "set a \"b c\"").ok());
  CHECK(load_history(folder.file()) == std::vector<std::string>{"get a", "set a \"b c\""});
  struct stat file {};
  REQUIRE(::stat(folder.file().c_str(), &file) == 0);
  CHECK((file.st_mode & 0777) == 0600);
}

TEST_CASE("kvctl: a long history is cut to its last lines") {
  const Folder folder;
  {
    std::ofstream file(folder.file());
    for (std::size_t i = 0; i < 5 * kMaxHistoryLines; ++i) file << "get " << i << '\n';
  }
  for (int again = 0; again < 2; ++again) {
    const auto lines = load_history(folder.file());
    REQUIRE(lines.size() == kMaxHistoryLines);
    CHECK(lines.front() == "get 4000");
    CHECK(lines.back() == "get 4999");
  }
  std::size_t left = 0;
  std::ifstream file(folder.file());
  for (std::string line; std::getline(file, line);) ++left;
  CHECK(left == kMaxHistoryLines);
}

TEST_CASE(
    "kvctl: a history that cannot be written is said in a sentence; none is kept if not wanted") {
  CHECK_FALSE(append_history("/nonexistent/history", "get a").ok());
  CHECK(append_history("", "get a").ok());
}
