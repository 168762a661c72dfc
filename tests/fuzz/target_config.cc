// The configuration file of keywayd: options, or one sentence.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "keyway/locks/base/check.h"
#include "server/options.h"
#include "target.h"

namespace keyway::fuzz {
namespace {

/// A file in memory, which has a path as long as the process lives.
class File {
 public:
  File() : descriptor_(memfd_create("keywayd.toml", 0)) { KW_CHECK(descriptor_ >= 0); }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  void hold(std::string_view bytes) {
    KW_CHECK(ftruncate(descriptor_, 0) == 0);
    KW_CHECK(pwrite(descriptor_, bytes.data(), bytes.size(), 0) ==
             static_cast<ssize_t>(bytes.size()));
  }

 private:
  int descriptor_;
};

server::Parsed parse(const std::string& path, bool prints) {
  const char* words[] = {"keywayd", "--config", path.c_str(), "--print-config"};
  return server::parse_command_line(prints ? 4 : 3, words);
}

}  // namespace

void run_one(std::string_view input) {
  static File given;
  given.hold(input);
  const server::Parsed parsed = parse(given.path(), false);
  if (!parsed.options) {
    KW_CHECK(!parsed.error.empty() || !parsed.out.empty());
    KW_CHECK(parsed.error.empty() == (parsed.exit_code == server::kExitOk));
    return;
  }
  KW_CHECK(parsed.error.empty());
  // The printed form is a configuration, too; it does not contain the password.
  const server::Parsed text = parse(given.path(), true);
  KW_CHECK(text.exit_code == server::kExitOk);
  const std::string& password = parsed.options->password;
  constexpr std::size_t kNoAccident = 12;  // so long a password is in no other line
  KW_CHECK(password.size() < kNoAccident || text.out.find(password) == std::string::npos);
}

}  // namespace keyway::fuzz
