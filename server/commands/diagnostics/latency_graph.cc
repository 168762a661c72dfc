#include "keyway/server/commands/diagnostics/latency_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <vector>

namespace keyway::server {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::uint64_t kRows = 4;
constexpr std::string_view kMarks = "_o#";  // for a row, from its bottom to its top
constexpr char kBelow = '|';

std::string age_of(std::uint64_t seconds) {
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m", seconds / 60);
  if (seconds < 86'400) return fmt::format("{}h", seconds / 3600);
  return fmt::format("{}d", seconds / 86'400);
}

struct Bar {
  std::uint64_t step = 0;  // below kRows * kMarks.size()
  std::string label;
};

char mark_in_row(std::uint64_t step, std::uint64_t row) {
  const std::uint64_t bottom = (kRows - 1 - row) * kMarks.size();
  if (step < bottom) return ' ';
  return step - bottom < kMarks.size() ? kMarks[step - bottom] : kBelow;
}

/// Bars beside each other, an empty line, and their labels, from top to bottom.
void draw(std::string& out, std::span<const Bar> bars) {
  for (std::uint64_t row = 0; row < kRows; ++row) {
    for (const Bar& bar : bars) out += mark_in_row(bar.step, row);
    out += '\n';
  }
  out.append(bars.size(), ' ');
  std::size_t longest = 0;
  for (const Bar& bar : bars) longest = std::max(longest, bar.label.size());
  for (std::size_t i = 0; i < longest; ++i) {
    out += '\n';
    for (const Bar& bar : bars) out += i < bar.label.size() ? bar.label[i] : ' ';
  }
  out += '\n';
}

}  // namespace

std::string latency_graph(std::string_view event, const LatencyEvents::History& history,
                          std::uint64_t now_s) {
  const auto& samples = history.samples;
  const auto [least, most] = std::minmax_element(
      samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.ms < b.ms; });
  const std::uint64_t range = std::max<std::uint64_t>(most->ms - least->ms, 1);
  constexpr std::uint64_t kSteps = kRows * kMarks.size();
  std::vector<Bar> bars;
  for (const LatencySample& sample : samples) {
    const std::uint64_t step = (sample.ms - least->ms) * kSteps / range;
    bars.push_back({std::min(step, kSteps - 1), age_of(now_s - std::min(now_s, sample.unix_s))});
  }
  std::string out = fmt::format("{} - high {} ms, low {} ms (all time high {} ms)\n{:->{}}\n",
                                event, most->ms, least->ms, history.worst_ms, "", kColumns);
  for (std::size_t first = 0; first < bars.size(); first += kColumns) {
    if (first != 0) out += '\n';
    draw(out, std::span(bars).subspan(first, std::min(kColumns, bars.size() - first)));
  }
  return out;
}

}  // namespace keyway::server
