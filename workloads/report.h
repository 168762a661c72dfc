// The report of a phase, as YCSB's text and as CSV.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "keyway/workloads/measurements.h"
#include "keyway/workloads/spec.h"

namespace keyway::workloads {

/// One phase of a job, all ranks and threads together.
struct PhaseResult {
  std::string name;                     // "load" or "run"
  std::optional<double> write_percent;  // the point of a sweep over the share of writes
  std::uint64_t runtime_ns = 0;
  std::uint64_t operations = 0;
  std::uint64_t failed = 0;  // part of `operations`: those without success
  Measurements measured;

  /// Successful operations only. YCSB counts failed ones, too, so a dead server that fails each
  /// request at once seems fast there.
  double throughput_per_s() const {
    const auto succeeded = static_cast<double>(operations - failed);
    return runtime_ns == 0 ? 0 : succeeded * 1e9 / static_cast<double>(runtime_ns);
  }
};

/// YCSB's report, lines of "[METRIC], measurement, value". Latencies are in whole us, as YCSB
/// rounds them: down. A kind of operation without latencies has only its counts. Failed operations,
/// if any, have a separate line under [OVERALL], which YCSB does not have.
std::string text_report(const PhaseResult& result, const Spec& spec);

/// The head line of csv_rows().
std::string csv_header(const Spec& spec);
/// One line for each metric that text_report() names in brackets, latencies in ns.
std::string csv_rows(const PhaseResult& result, const Spec& spec);

/// One bracketed name of the report and its meaning.
struct ReportLine {
  std::string name;  // "READ", "READ-FAILED", "Intended-READ"
  std::uint64_t operations = 0;
  const Histogram* latency = nullptr;                // null when none was taken
  const Measurements::Series* returns_of = nullptr;  // null where YCSB prints none
};
std::vector<ReportLine> report_lines(const PhaseResult& result, Interval interval);

/// "95th", "99.9", as YCSB writes a percentile.
std::string percentile_name(double percent);
/// The shortest decimal that reads back as `value`, with at least one digit after the point.
std::string decimal(double value);

}  // namespace keyway::workloads
