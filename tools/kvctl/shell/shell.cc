#include "shell/shell.h"

#include <fmt/core.h>

#include <cstdio>
#include <iostream>

#include "shell/editor.h"
#include "shell/history_file.h"
#include "shell/repl.h"
#include "shell/secrets.h"
#include "tools/kvctl/interrupts.h"
#include "tools/kvctl/password.h"

namespace keyway::kvctl {
namespace {

std::string prompt_of(Runner& runner) {
  if (!runner.link().connected()) return "not connected> ";
  return fmt::format("{}{}{}> ", runner.link().server(),
                     runner.database() != 0 ? fmt::format("[{}]", runner.database()) : "",
                     runner.in_transaction() ? "(TX)" : "");
}

/// Connects; asks for the password here if the server requires one. Reports a failure: the shell
/// continues without a connection.
void connect(Link& link) {
  Status status = link.connect();
  if (!status.ok() && wants_password(status) && link.options().password.empty()) {
    complain(status.message());
    if (auto password = ask_for_password()) {
      link.options().password = *password;
      status = link.connect();
    }
  }
  if (!status.ok()) complain(status.message());
}

/// The history of typed lines, without passwords.
class Memory {
 public:
  explicit Memory(Editor& editor) : editor_(editor), path_(history_path()) {
    for (const std::string& line : load_history(path_)) editor_.remember(line);
  }

  void keep(const std::string& line) {
    if (line.find_first_not_of(' ') == std::string::npos || holds_password(line)) return;
    editor_.remember(line);
    if (line == last_) return;
    last_ = line;
    Status status = append_history(path_, line);
    if (status.ok()) return;
    complain(status.message());
    path_.clear();  // said once
  }

 private:
  Editor& editor_;
  std::string path_;
  std::string last_;
};

}  // namespace

int run_shell(Runner& runner, const Options& options) {
  Interrupts::note();
  connect(runner.link());
  Editor editor;
  Memory memory(editor);
  Repl repl(runner, options);
  for (std::string line;;) {
    const Read read = editor.read(prompt_of(runner), line);
    if (read == Read::kStopped && !line.empty()) {
      fmt::print("^C\n");
      continue;
    }
    if (read != Read::kLine) {
      fmt::print("\n");
      return kExitOk;
    }
    memory.keep(line);
    if (!repl.take(line)) return exit_code_of(repl.outcome(), options.stop_at_error);
    editor.show_hints(repl.shows_hints());
  }
}

int run_lines(Runner& runner, const Options& options) {
  Repl repl(runner, options);
  for (std::string line; std::getline(std::cin, line);) {
    if (!repl.take(line)) break;
    if (repl.outcome() == Outcome::kLost) break;
  }
  return exit_code_of(repl.outcome(), options.stop_at_error);
}

}  // namespace keyway::kvctl
