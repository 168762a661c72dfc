// A server in a child process, on a Unix socket in a temporary folder; both are removed with it.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace keyway::test {

class RunningServer {
 public:
  /// `options` follow those that name the socket; ready once it has said `ready`.
  RunningServer(const std::string& program, std::vector<std::string> options,
                std::string_view ready) {
    // redis-check-rdb is redis-server, by the name that it is called by.
    const bool is_redis = program.find("redis") != std::string::npos;
    options.insert(options.begin(), {is_redis ? "redis-server" : program, "--unixsocket", path()});
    start(program, options);
    wait_for(ready);
  }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;
  ~RunningServer() { stop(); }

  /// keywayd, or Debian's redis-server, by the program's name.
  static RunningServer of(const std::string& program) {
    if (program.find("keywayd") != std::string::npos) {
      return RunningServer(program, {"--port", "0", "--memory", "64MiB"}, "ready on");
    }
    return RunningServer(program, {"--port", "0", "--save", "", "--databases", "1"},
                         "ready to accept connections");
  }
  std::string path() const { return folder_.file("socket"); }
  std::string uri() const { return "unix:" + path(); }

 private:
  void start(const std::string& program, const std::vector<std::string>& words) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe for a server");
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    child_ = ::fork();
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // should the test be killed
      ::dup2(ends[1], STDOUT_FILENO);
      ::dup2(ends[1], STDERR_FILENO);
      ::close(ends[0]);
      ::execvp(program.c_str(), arguments.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ends[0];
  }
  void wait_for(std::string_view ready) {
    constexpr int kPatienceMs = 60000;
    std::string said;
    char bytes[1024];
    pollfd wanted{output_, POLLIN, 0};
    while (said.find(ready) == std::string::npos) {
      const ssize_t n =
          ::poll(&wanted, 1, kPatienceMs) > 0 ? ::read(output_, bytes, sizeof bytes) : 0;
      if (n <= 0) {
        stop();
        throw std::runtime_error("a server does not start: " + said);
      }
      said.append(bytes, static_cast<std::size_t>(n));
    }
  }
  void stop() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::close(output_);
    child_ = -1;
  }

  TemporaryFolder folder_;
  pid_t child_ = -1;
  int output_ = -1;
};

}  // namespace keyway::test
