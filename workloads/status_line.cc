#include "keyway/workloads/status_line.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>

namespace keyway::workloads {
namespace {

double rate(std::uint64_t done, std::uint64_t ms) {
  return ms == 0 ? 0 : 1000.0 * static_cast<double>(done) / static_cast<double>(ms);
}

/// Successful operations since the last line.
double current_rate(const Progress& progress) {
  const std::uint64_t failed = std::min(progress.interval_failed, progress.interval_done);
  return rate(progress.interval_done - failed, progress.interval_ms);
}

std::uint64_t remaining_s(const Progress& progress) {
  const double per_s = rate(progress.done, progress.elapsed_ms);
  return per_s <= 0
             ? 0
             : static_cast<std::uint64_t>(std::ceil(static_cast<double>(progress.todo) / per_s));
}

/// At most two digits after the point and no zeros at the end: Java's "#.##".
std::string two_digits(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string with_unit(double value) {
  if (value >= 1e6) return fmt::format("{:.1f}M", value / 1e6);
  if (value >= 1e3) return fmt::format("{:.1f}k", value / 1e3);
  return fmt::format("{:.0f}", value);
}

void append_interval(std::string& out, const std::string& name, const Histogram& histogram) {
  const auto us = [](std::uint64_t ns) { return ns / 1000; };
  fmt::format_to(std::back_inserter(out),
                 "[{}: Count={}, Max={}, Min={}, Avg={}, 90={}, 99={}, 99.9={}, 99.99={}] ", name,
                 histogram.count(), us(histogram.max()), us(histogram.min()),
                 two_digits(histogram.mean() / 1000), us(histogram.percentile(90)),
                 us(histogram.percentile(99)), us(histogram.percentile(99.9)),
                 us(histogram.percentile(99.99)));
}

}  // namespace

std::string remaining_text(std::uint64_t seconds) {
  const auto part = [](std::uint64_t n, std::string_view unit) {
    return fmt::format("{} {}{}", n, unit, n == 1 ? "" : "s");
  };
  const std::uint64_t days = seconds / 86400;
  const std::uint64_t hours = seconds / 3600 % 24;
  const std::uint64_t minutes = seconds / 60 % 60;
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : " ") + more; };
  if (days > 0) add(part(days, "day"));
  if (hours > 0) add(part(hours, "hour"));
  if (days == 0 && minutes > 0) add(part(minutes, "minute"));
  return text.empty() ? part(seconds % 60, "second") : text;
}

std::string status_line(std::string_view label, std::uint64_t wall_ms, const Progress& progress,
                        std::span<const std::pair<std::string, Histogram>> intervals) {
  const auto time = static_cast<std::time_t>(wall_ms / 1000);
  std::tm local{};
  localtime_r(&time, &local);
  std::string out = fmt::format("{}{:%Y-%m-%d %H:%M:%S}:{:03} {} sec: {} operations; ", label,
                                local, wall_ms % 1000, progress.elapsed_ms / 1000, progress.done);
  if (progress.failed != 0) out += fmt::format("{} failed; ", progress.failed);
  if (progress.done != 0) out += two_digits(current_rate(progress)) + " current ops/sec; ";
  if (progress.todo != 0 && progress.done != 0) {
    out += "est completion in " + remaining_text(remaining_s(progress)) + " ";
  }
  for (const auto& [name, histogram] : intervals) append_interval(out, name, histogram);
  if (out.back() == ' ') out.pop_back();
  return out;
}

std::string progress_line(std::string_view phase, const Progress& progress) {
  const double done = static_cast<double>(progress.done);
  const std::uint64_t total = progress.done + progress.todo;
  std::string out = fmt::format("{}: ", phase);
  if (progress.todo != 0) out += fmt::format("{:.0f}%, ", 100 * done / static_cast<double>(total));
  out += fmt::format("{} operations, ", with_unit(done));
  if (progress.failed != 0) {
    out += fmt::format("{} failed, ", with_unit(static_cast<double>(progress.failed)));
  }
  out += fmt::format("{}/s", with_unit(current_rate(progress)));
  if (progress.todo != 0 && progress.done != 0) {
    out += fmt::format(", {} left", remaining_text(remaining_s(progress)));
  }
  return out;
}

}  // namespace keyway::workloads
