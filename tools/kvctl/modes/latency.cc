// --latency, --latency-history, --latency-dist: how long a PING takes, as a client sees it.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "keyway/locks/base/clock.h"
#include "modes/modes.h"
#include "tools/kvctl/interrupts.h"
#include "tools/kvctl/runner.h"

namespace keyway::kvctl {
namespace {

constexpr double kBetween_s = 0.01;  // samples
constexpr double kNsPerMs = 1e6;
constexpr double kDefaultHistory_s = 15;
constexpr double kDefaultOther_s = 1;
constexpr std::size_t kWidestBar = 50;

// ms; one more bucket holds what is longer.
constexpr std::array<double, 14> kBounds_ms = {0.02, 0.05, 0.1, 0.2, 0.5, 1,   2,
                                               5,    10,   20,  50,  100, 200, 500};

/// Samples of one interval.
struct Samples {
  std::uint64_t count = 0;
  double sum_ms = 0, least_ms = 0, most_ms = 0;
  std::array<std::uint64_t, kBounds_ms.size() + 1> buckets = {};

  void add(double ms) {
    least_ms = count == 0 ? ms : std::min(least_ms, ms);
    most_ms = std::max(most_ms, ms);
    sum_ms += ms;
    ++count;
    const auto bound = std::lower_bound(kBounds_ms.begin(), kBounds_ms.end(), ms);
    ++buckets[static_cast<std::size_t>(bound - kBounds_ms.begin())];
  }
  double average_ms() const { return count == 0 ? 0 : sum_ms / static_cast<double>(count); }
};

std::string line_of(const Samples& samples) {
  return fmt::format("min: {:.3f}, max: {:.3f}, avg: {:.3f} ms ({} samples)", samples.least_ms,
                     samples.most_ms, samples.average_ms(), samples.count);
}

void print_spread(const Samples& samples) {
  fmt::print("{}\n", line_of(samples));
  for (std::size_t i = 0; i < samples.buckets.size(); ++i) {
    const std::uint64_t here = samples.buckets[i];
    if (here == 0) continue;
    const double share = static_cast<double>(here) / static_cast<double>(samples.count);
    const auto bar = static_cast<std::size_t>(std::lround(share * kWidestBar));
    const std::string bound = i < kBounds_ms.size() ? fmt::format("<= {} ms", kBounds_ms[i])
                                                    : fmt::format("> {} ms", kBounds_ms.back());
    fmt::print("  {:<10} {:>5.1f}% {}\n", bound, share * 100, std::string(bar, '#'));
  }
}

/// In the requested form: scripts read one line of numbers, in ms.
void print_result(const Samples& samples, Mode mode, Style style) {
  if (style == Style::kJson) {
    fmt::print("{{\"min\":{:.3f},\"max\":{:.3f},\"avg\":{:.3f},\"samples\":{}}}\n",
               samples.least_ms, samples.most_ms, samples.average_ms(), samples.count);
  } else if (style == Style::kCsv) {
    fmt::print("{:.3f},{:.3f},{:.3f},{}\n", samples.least_ms, samples.most_ms, samples.average_ms(),
               samples.count);
  } else if (mode == Mode::kLatencyDist) {
    print_spread(samples);
  } else if (style == Style::kRaw) {
    fmt::print("{:.3f} {:.3f} {:.3f} {}\n", samples.least_ms, samples.most_ms, samples.average_ms(),
               samples.count);
  } else {
    fmt::print("{}\n", line_of(samples));
  }
  std::fflush(stdout);
}

/// Samples for so long; on a terminal the line is rewritten with each.
Status sample(Link& link, double seconds, bool live, Samples& samples) {
  const std::uint64_t end = steady_ns() + static_cast<std::uint64_t>(seconds * 1e9);
  while (steady_ns() < end) {
    const std::uint64_t began = steady_ns();
    const auto reply = link.ask({"PING"});
    if (!reply.ok()) return reply.status();
    samples.add(static_cast<double>(steady_ns() - began) / kNsPerMs);
    if (live) {
      fmt::print("\r\x1b[K{}", line_of(samples));
      std::fflush(stdout);
    }
    wait_for(-1, kBetween_s);
  }
  if (live) fmt::print("\r\x1b[K");
  return {};
}

}  // namespace

int run_latency(Link& link, const Options& options, Style style) {
  const bool on_terminal = style == Style::kPretty && isatty(STDOUT_FILENO) != 0;
  const bool forever = options.mode != Mode::kLatency || on_terminal;
  const double usual_s =
      options.mode == Mode::kLatencyHistory ? kDefaultHistory_s : kDefaultOther_s;
  const double interval_s = options.interval_s > 0 ? options.interval_s : usual_s;
  const std::int64_t rounds = options.repeat.value_or(forever ? -1 : 1);
  const bool live = on_terminal && options.mode != Mode::kLatencyDist;
  Samples samples;
  for (std::int64_t i = 0; rounds < 0 || i < rounds; ++i) {
    // With --latency the samples add up; the other modes start again.
    if (options.mode != Mode::kLatency) samples = {};
    if (Status status = sample(link, interval_s, live, samples); !status.ok()) {
      complain(status.message());
      return kExitUnavailable;
    }
    const bool last = rounds >= 0 && i + 1 == rounds;
    if (options.mode != Mode::kLatency || last || !live) {
      print_result(samples, options.mode, style);
    }
  }
  return kExitOk;
}

}  // namespace keyway::kvctl
