// kvctl: the shell of Keyway and of any Redis server.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>

#include "modes/modes.h"
#include "options.h"
#include "password.h"
#include "runner.h"
#include "shell/repl.h"
#include "shell/shell.h"

namespace keyway::kvctl {
namespace {

/// Stdin replaces the tag, or becomes the last word.
bool put_stdin_in_place(Options& options) {
  if (!options.last_from_stdin && options.tag.empty()) return true;
  std::string bytes(std::istreambuf_iterator<char>(std::cin), {});
  if (options.last_from_stdin) {
    options.words.push_back(std::move(bytes));
    return true;
  }
  for (std::string& word : options.words) {
    if (word != options.tag) continue;
    word = std::move(bytes);
    return true;
  }
  complain(fmt::format("-X {}: the command has no such argument", options.tag));
  return false;
}

int run_mode(Link& link, const Options& options, Style style) {
  switch (options.mode) {
    case Mode::kPipe: return run_pipe(link, options);
    case Mode::kStat: return run_stat(link, options);
    case Mode::kLatency:
    case Mode::kLatencyHistory:
    case Mode::kLatencyDist: return run_latency(link, options, style);
    case Mode::kScan: return run_scan(link, options, style);
    case Mode::kBigKeys:
    case Mode::kMemKeys: return run_sizes(link, options);
    case Mode::kHotKeys: return run_hot_keys(link, options, style);
    case Mode::kCommands: break;
  }
  Runner runner(link, style, options.stop_at_error);
  if (options.words.empty()) return run_lines(runner, options);
  if (const auto view = view_of(options.words)) {
    return show_view(*view, options.words, link, options, style);
  }
  const Outcome outcome =
      run_repeatedly(runner, options.words, options.repeat.value_or(1), options.interval_s);
  return exit_code_of(outcome, options.stop_at_error);
}

int run(Options options) {
  if (options.password_seen) {
    complain("others can see a password on the command line; better KVCTL_PASSWORD or --askpass");
  }
  if (options.ask_password) {
    auto password = ask_for_password();
    if (!password) {
      complain("--askpass: no password was typed at a terminal");
      return kExitUsage;
    }
    options.server.password = std::move(*password);
  }
  const bool to_terminal = isatty(STDOUT_FILENO) != 0;
  const Style style = options.style.value_or(to_terminal ? Style::kPretty : Style::kRaw);
  Link link(options.server);
  const bool person = options.mode == Mode::kCommands && options.words.empty() && to_terminal &&
                      isatty(STDIN_FILENO) != 0;
  if (person) {
    Runner runner(link, style, options.stop_at_error);
    return run_shell(runner, options);
  }
  if (!put_stdin_in_place(options)) return kExitUsage;
  if (Status status = link.connect(); !status.ok()) {
    complain(status.message());
    return kExitUnavailable;
  }
  return run_mode(link, options, style);
}

int main_of(int argc, char** argv) {
  Parsed parsed = parse_command_line(argc, argv);
  if (parsed.options) return run(std::move(*parsed.options));
  fmt::print("{}", parsed.out);
  if (!parsed.error.empty()) complain(parsed.error);
  return parsed.exit_code;
}

}  // namespace
}  // namespace keyway::kvctl

int main(int argc, char** argv) {
  try {
    return keyway::kvctl::main_of(argc, argv);
  } catch (const std::exception& error) {
    keyway::kvctl::complain(fmt::format("out of memory or another resource ({})", error.what()));
    return keyway::kvctl::kExitUnavailable;
  }
}
