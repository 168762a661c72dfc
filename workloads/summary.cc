#include "keyway/workloads/summary.h"

#include <fmt/format.h>

namespace keyway::workloads {
namespace {

/// "1,234,567".
std::string grouped(double value) {
  const std::string digits = fmt::format("{:.0f}", value);
  std::string out;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at != 0 && (digits.size() - at) % 3 == 0) out += ',';
    out += digits[at];
  }
  return out;
}

std::string row(std::string_view phase, std::string_view way, std::string_view throughput,
                std::string_view operation, std::string_view p50, std::string_view p99) {
  std::string line = fmt::format("{:<8} {:<12} {:>16}  {:<18} {:>10} {:>10}", phase, way,
                                 throughput, operation, p50, p99);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string phase_text(const PhaseResult& result) {
  return result.write_percent ? fmt::format("{} {:g}%", result.name, *result.write_percent)
                              : result.name;
}

}  // namespace

std::string latency_text(std::uint64_t ns) {
  const double us = static_cast<double>(ns) / 1000;
  if (us < 9.995) return fmt::format("{:.2f} us", us);
  if (us < 99.95) return fmt::format("{:.1f} us", us);
  return grouped(us) + " us";
}

std::string throughput_text(double per_s) { return grouped(per_s) + " ops/s"; }

std::string summary_header() {
  return row("phase", "way", "throughput", "operation", "p50", "p99");
}

std::string summary_rows(std::string_view way, const PhaseResult& result, Interval interval) {
  const std::string phase = phase_text(result);
  const std::string throughput = throughput_text(result.throughput_per_s());
  std::string out;
  for (const ReportLine& line : report_lines(result, interval)) {
    const bool first = out.empty();
    const auto latency = [&line](double percent) {
      return line.latency == nullptr ? "-" : latency_text(line.latency->percentile(percent));
    };
    out += row(first ? phase : "", first ? way : "", first ? throughput : "", line.name,
               latency(50), latency(99));
  }
  return out.empty() ? row(phase, way, throughput, "-", "-", "-") : out;
}

}  // namespace keyway::workloads
