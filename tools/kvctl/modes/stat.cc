// --stat: a line about the server, again and again.
#include <fmt/core.h>

#include <cstdio>

#include "modes/info.h"
#include "modes/modes.h"
#include "tools/kvctl/interrupts.h"
#include "tools/kvctl/runner.h"

namespace keyway::kvctl {
namespace {

constexpr double kDefaultInterval_s = 1;
constexpr std::int64_t kLinesPerHead = 20;

void print_head() {
  fmt::print(
      "------- data ------ --------------------- load --------------------\n"
      "keys       mem      clients blocked requests            connections\n");
}

void print_line(const Info& info, std::uint64_t before, bool first) {
  const std::uint64_t requests = info.number("total_commands_processed");
  const std::uint64_t more = first || requests < before ? 0 : requests - before;
  fmt::print("{:<10} {:<8} {:<7} {:<7} {:<19} {}\n", info.keys(),
             human_bytes(info.number("used_memory")), info.number("connected_clients"),
             info.number("blocked_clients"), fmt::format("{} (+{})", requests, more),
             info.number("total_connections_received"));
  std::fflush(stdout);
}

}  // namespace

int run_stat(Link& link, const Options& options) {
  const double interval_s = options.interval_s > 0 ? options.interval_s : kDefaultInterval_s;
  const std::int64_t lines = options.repeat.value_or(-1);
  std::uint64_t before = 0;
  for (std::int64_t i = 0; lines < 0 || i < lines; ++i) {
    if (i != 0) wait_for(-1, interval_s);
    const auto info = Info::of(link);
    if (!info.ok()) {
      complain(info.status().message());
      return kExitUnavailable;
    }
    if (i % kLinesPerHead == 0) print_head();
    print_line(*info, before, i == 0);
    before = info->number("total_commands_processed");
  }
  return kExitOk;
}

}  // namespace keyway::kvctl
