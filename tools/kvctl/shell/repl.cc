#include "shell/repl.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdio>

#include "keyway/kvstore/resp/line_words.h"
#include "keyway/kvstore/resp/numbers.h"
#include "keyway/locks/base/words.h"
#include "modes/modes.h"
#include "tools/kvctl/interrupts.h"

namespace keyway::kvctl {
namespace {

constexpr double kSlow_s = 0.5;  // longer times are printed

}  // namespace

Outcome run_repeatedly(Runner& runner, const std::vector<std::string>& words, std::int64_t times,
                       double interval_s) {
  Outcome worst = Outcome::kAnswered;
  for (std::int64_t i = 0; times < 0 || i < times; ++i) {
    if (i != 0 && interval_s > 0 && wait_for(-1, interval_s) == Waited::kSignal &&
        Interrupts::take_stop()) {
      break;
    }
    const Outcome outcome = runner.run(words);
    worst = std::max(worst, outcome);
    if (outcome == Outcome::kLost || (outcome == Outcome::kError && runner.stops_at_error())) break;
  }
  return worst;
}

bool Repl::take(const std::string& line) {
  std::vector<std::string> words;
  if (!resp::split_line(line, words)) {
    fmt::print("Invalid argument(s)\n");
    return true;
  }
  if (words.empty()) return true;
  std::int64_t times = 1;
  if (const auto number = resp::parse_integer(words[0]); number && words.size() > 1) {
    if (*number <= 0) {
      fmt::print("A command is repeated once or more, not {} times.\n", *number);
      return true;
    }
    times = *number;
    words.erase(words.begin());
  }
  if (!builtin(words)) command(words, times);
  return !ended_;
}

bool Repl::builtin(const std::vector<std::string>& words) {
  const std::string& name = words[0];
  const bool alone = words.size() == 1;
  if (alone && (same_word(name, "exit") || same_word(name, "quit"))) {
    ended_ = true;
  } else if (same_word(name, "help") || name == "?") {
    help(words);
  } else if (same_word(name, "connect") && words.size() == 3) {
    connect(words);
  } else if (alone && same_word(name, "clear")) {
    fmt::print("\x1b[H\x1b[2J");
  } else if (name == ":set" && words.size() == 2 && words[1].ends_with("hints")) {
    hints_ = words[1] == "hints";
  } else if (const auto view = view_of(words)) {
    const int code = show_view(*view, words, runner_.link(), options_, runner_.style());
    outcome_ = code == kExitOk ? Outcome::kAnswered : Outcome::kError;
  } else {
    return false;
  }
  std::fflush(stdout);
  return true;
}

void Repl::help(const std::vector<std::string>& words) const {
  fmt::print("{}", help_text({words.begin() + 1, words.end()}));
}

void Repl::connect(const std::vector<std::string>& words) {
  const auto port = resp::parse_integer(words[2]);
  if (!port || *port < 1 || *port > 65535) return complain("a port is a number from 1 to 65535");
  wire::Options& options = runner_.link().options();
  options.host = words[1];
  options.port = static_cast<std::uint16_t>(*port);
  options.path.clear();
  runner_.forget_transaction();
  if (Status status = runner_.link().connect(); !status.ok()) complain(status.message());
}

void Repl::command(const std::vector<std::string>& words, std::int64_t times) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  outcome_ = run_repeatedly(runner_, words, times, options_.interval_s);
  const std::chrono::duration<double> took = Clock::now() - began;
  if (outcome_ != Outcome::kLost && took.count() >= kSlow_s && runner_.style() == Style::kPretty) {
    fmt::print("({:.2f}s)\n", took.count());
    std::fflush(stdout);
  }
  ended_ = outcome_ == Outcome::kError && runner_.stops_at_error();
}

}  // namespace keyway::kvctl
