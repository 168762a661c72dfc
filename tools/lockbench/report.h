// The reports of lockbench: text for people, CSV, JSON with the configuration for a rerun.
//
// *Thread safety.* Free functions without state.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "result.h"
#include "sweep.h"

namespace keyway::lockbench {

/// The whole of one run, several lines.
std::string text_report(const RunResult& result);
/// One run of a sweep as one line.
std::string text_line(const Point& point, const RunResult& result);

/// Swept names come first.
std::string csv_header(const Point& point);
std::string csv_line(const Point& point, const RunResult& result);

/// One run. Host time is in "host_time" and nowhere else: the rest of a simulated run is the same
/// whenever and wherever it is run.
nlohmann::ordered_json result_json(const Point& point, const RunResult& result);
/// The whole file. A single run is at the top level, runs of a sweep under "points".
nlohmann::ordered_json report_json(const Options& options,
                                   std::vector<nlohmann::ordered_json> runs);

}  // namespace keyway::lockbench
