// Repl: executes one line: a builtin, a repetition, or a command.
//
// *Thread safety.* One thread's.
#pragma once

#include <string>
#include <vector>

#include "tools/kvctl/runner.h"

namespace keyway::kvctl {

class Repl {
 public:
  Repl(Runner& runner, const Options& options) : runner_(runner), options_(options) {}

  /// False when that was the last line: EXIT, or with -e an error.
  bool take(const std::string& line);
  /// How the last command ended.
  Outcome outcome() const { return outcome_; }
  bool shows_hints() const { return hints_; }

 private:
  bool builtin(const std::vector<std::string>& words);
  void connect(const std::vector<std::string>& words);
  void help(const std::vector<std::string>& words) const;
  /// `times`: often; negative: for ever.
  void command(const std::vector<std::string>& words, std::int64_t times);

  Runner& runner_;
  const Options& options_;
  Outcome outcome_ = Outcome::kAnswered;
  bool hints_ = true;
  bool ended_ = false;
};

/// Sends a command `times` times (negative: for ever), `interval_s` apart.
Outcome run_repeatedly(Runner& runner, const std::vector<std::string>& words, std::int64_t times,
                       double interval_s);

/// The help text for a command, for a group, or for the shell.
std::string help_text(const std::vector<std::string>& about);

}  // namespace keyway::kvctl
