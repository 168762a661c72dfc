// Runs a piece of a test in a child process: for what aborts, and for what is
// decided once per process (the log level). Call it before starting threads.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <string>

namespace keyway::test {

struct ChildResult {
  int signal = 0;     // the signal that ended the child, 0 when it returned
  std::string error;  // its output on stderr
};

inline ChildResult run_in_child(const std::function<void()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return {-1, "pipe failed"};
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    signal(SIGABRT, SIG_DFL);  // Catch2's handler would report a failed test
    body();
    std::fflush(nullptr);
    _exit(0);
  }
  close(ends[1]);
  ChildResult result;
  char buffer[512];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    result.error.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return result;
}

}  // namespace keyway::test
