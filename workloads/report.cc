#include "keyway/workloads/report.h"

#include <fmt/core.h>

#include <cmath>
#include <iterator>

namespace keyway::workloads {
namespace {

constexpr Metric kAllMetrics[] = {Metric::kRead, Metric::kUpdate,          Metric::kInsert,
                                  Metric::kScan, Metric::kReadModifyWrite, Metric::kVerify};

void append_lines(std::string& out, const ReportLine& line, const Spec& spec) {
  const auto put = [&out, &line](std::string_view measurement, const auto& value) {
    fmt::format_to(std::back_inserter(out), "[{}], {}, {}\n", line.name, measurement, value);
  };
  put("Operations", line.operations);
  if (line.latency != nullptr) {
    put("AverageLatency(us)", decimal(line.latency->mean() / 1000));
    put("MinLatency(us)", line.latency->min() / 1000);
    put("MaxLatency(us)", line.latency->max() / 1000);
    for (const double percent : spec.percentiles) {
      put(percentile_name(percent) + "PercentileLatency(us)",
          line.latency->percentile(percent) / 1000);
    }
  }
  if (line.returns_of == nullptr) return;
  for (std::size_t i = 0; i < kReturns; ++i) {
    const auto value = static_cast<Return>(i);
    if (const std::uint64_t n = line.returns_of->count(value); n != 0) {
      put(fmt::format("Return={}", return_name(value)), n);
    }
  }
}

const Histogram* if_taken(const Histogram& histogram) {
  return histogram.count() == 0 ? nullptr : &histogram;
}

}  // namespace

std::string percentile_name(double percent) {
  if (percent != std::floor(percent)) return fmt::format("{}", percent);
  const auto whole = static_cast<int>(percent);
  if (whole % 100 >= 11 && whole % 100 <= 13) return fmt::format("{}th", whole);
  switch (whole % 10) {
    case 1: return fmt::format("{}st", whole);
    case 2: return fmt::format("{}nd", whole);
    case 3: return fmt::format("{}rd", whole);
    default: return fmt::format("{}th", whole);
  }
}

std::string decimal(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of("eE") != std::string::npos) text = fmt::format("{:.6f}", value);
  if (text.find_first_of(".ni") == std::string::npos) text += ".0";
  return text;
}

std::vector<ReportLine> report_lines(const PhaseResult& result, Interval interval) {
  std::vector<ReportLine> lines;
  std::vector<ReportLine> intended;
  for (const Metric metric : kAllMetrics) {
    const Measurements::Series* series = result.measured.find(metric);
    if (series == nullptr || series->operations() == 0) continue;
    const std::string name(metric_name(metric));
    const std::uint64_t ok = series->count(Return::kOk);
    const std::uint64_t failed = series->failures();
    // Checks have no intended start: YCSB measures them from their own.
    const bool own = metric == Metric::kVerify || interval != Interval::kIntended;
    lines.push_back({name, ok, if_taken(own ? series->ok : series->intended_ok), series});
    if (failed != 0) {
      lines.push_back({name + "-FAILED", failed,
                       if_taken(own ? series->failed : series->intended_failed), nullptr});
    }
    if (interval != Interval::kBoth || metric == Metric::kVerify) continue;
    if (const auto* latency = if_taken(series->intended_ok)) {
      intended.push_back({"Intended-" + name, ok, latency, nullptr});
    }
    if (const auto* latency = if_taken(series->intended_failed)) {
      intended.push_back({"Intended-" + name + "-FAILED", failed, latency, nullptr});
    }
  }
  lines.insert(lines.end(), intended.begin(), intended.end());
  return lines;
}

std::string text_report(const PhaseResult& result, const Spec& spec) {
  std::string out = fmt::format("[OVERALL], RunTime(ms), {}\n[OVERALL], Throughput(ops/sec), {}\n",
                                result.runtime_ns / 1000000, decimal(result.throughput_per_s()));
  if (result.failed != 0) out += fmt::format("[OVERALL], FailedOperations, {}\n", result.failed);
  for (const ReportLine& line : report_lines(result, spec.interval)) append_lines(out, line, spec);
  return out;
}

std::string csv_header(const Spec& spec) {
  std::string out =
      "phase,write_percent,runtime_ms,throughput_per_s,metric,operations,average_ns,min_ns,max_ns";
  for (const double percent : spec.percentiles) {
    fmt::format_to(std::back_inserter(out), ",p{}_ns", percent);
  }
  return out + "\n";
}

std::string csv_rows(const PhaseResult& result, const Spec& spec) {
  std::string out;
  auto end = std::back_inserter(out);
  for (const ReportLine& line : report_lines(result, spec.interval)) {
    fmt::format_to(end, "{},{},{:.3f},{:.3f},{},{}", result.name,
                   result.write_percent ? fmt::format("{}", *result.write_percent) : "",
                   static_cast<double>(result.runtime_ns) / 1e6, result.throughput_per_s(),
                   line.name, line.operations);
    if (line.latency == nullptr) {
      out.append(3 + spec.percentiles.size(), ',');
    } else {
      fmt::format_to(end, ",{:.1f},{},{}", line.latency->mean(), line.latency->min(),
                     line.latency->max());
      for (const double percent : spec.percentiles) {
        fmt::format_to(end, ",{}", line.latency->percentile(percent));
      }
    }
    out += '\n';
  }
  return out;
}

}  // namespace keyway::workloads
