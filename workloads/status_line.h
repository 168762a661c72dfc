// YCSB's status line: the progress of a phase, and the latencies of the last interval.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "keyway/locks/base/histogram.h"

namespace keyway::workloads {

/// The progress of a phase.
struct Progress {
  std::uint64_t elapsed_ms = 0;
  std::uint64_t interval_ms = 0;      // since the last line
  std::uint64_t done = 0;             // operations since the start
  std::uint64_t interval_done = 0;    // since the last line
  std::uint64_t todo = 0;             // 0: done, or not known
  std::uint64_t failed = 0;           // part of `done`
  std::uint64_t interval_failed = 0;  // part of `interval_done`
};

/// One line without its end. The rate is that of successful operations; failed ones, if any, are
/// counted. `wall_ms` is the time of day, `intervals` the metrics' names with what they recorded
/// since the last line.
std::string status_line(std::string_view label, std::uint64_t wall_ms, const Progress& progress,
                        std::span<const std::pair<std::string, Histogram>> intervals);

/// A short line for a terminal, e.g. "run: 45%, 1.2M operations, 600k/s, 3 s left".
std::string progress_line(std::string_view phase, const Progress& progress);

/// "12 seconds", "3 minutes", "2 hours 5 minutes", as YCSB writes what remains.
std::string remaining_text(std::uint64_t seconds);

}  // namespace keyway::workloads
