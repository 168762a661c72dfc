// The results of phases, as one table for people: throughput and latencies with their units.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "keyway/workloads/report.h"

namespace keyway::workloads {

/// The head line of summary_rows().
std::string summary_header();
/// A line for each kind of operation of the phase. The first line has the phase, `way` (how the
/// store was reached) and the throughput of all kinds together.
std::string summary_rows(std::string_view way, const PhaseResult& result, Interval interval);

/// "0.36 us", "12.3 us", "4,567 us": three significant digits, or all digits before the point.
std::string latency_text(std::uint64_t ns);
/// "47,625 ops/s".
std::string throughput_text(double per_s);

}  // namespace keyway::workloads
