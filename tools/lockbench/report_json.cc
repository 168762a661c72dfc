#include <fmt/core.h>

#include "keyway/client/program/provenance.h"
#include "keyway/locks/base/clock.h"
#include "report.h"

namespace keyway::lockbench {
namespace {

using nlohmann::ordered_json;

ordered_json latency_json(const Histogram& h) {
  ordered_json percentiles = ordered_json::object();
  for (const double percent : {50.0, 90.0, 95.0, 99.0, 99.9}) {
    percentiles[fmt::format("{}", percent)] = h.percentile(percent);
  }
  return {{"mean_ns", h.mean()},
          {"min_ns", h.min()},
          {"max_ns", h.max()},
          {"percentiles_ns", percentiles}};
}

ordered_json row_json(const RunResult& result, const fabric::OpCounts::Row& row) {
  ordered_json out = ordered_json::object();
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] != 0) out[result.levels[i]] = row[i];
  }
  return out;
}

/// By the level of the queue; levels without wake-ups are left out.
ordered_json handovers_json(const RunResult& result) {
  ordered_json out = ordered_json::object();
  for (std::size_t level = 1; level <= result.levels.size(); ++level) {
    const std::uint64_t count = result.stats.handovers_at[level];
    if (count != 0) out[result.levels[level - 1]] = count;
  }
  return out;
}

/// By class, operation and level; what never happened is left out.
ordered_json counts_json(const RunResult& result) {
  ordered_json out = {{"cpu", ordered_json::object()}, {"rma", ordered_json::object()}};
  for (const auto access : {fabric::sim::OpClass::kCpu, fabric::sim::OpClass::kRma}) {
    for (std::size_t k = 0; k < fabric::OpCounts::kKinds; ++k) {
      const auto kind = static_cast<fabric::sim::OpKind>(k);
      auto row = row_json(result, result.counts.of(access, kind));
      if (row.empty()) continue;
      out[access == fabric::sim::OpClass::kCpu ? "cpu" : "rma"][name_of(kind)] = std::move(row);
    }
  }
  out["flushes"] = row_json(result, result.counts.flushes);
  out["looks"] = row_json(result, result.counts.looks);
  return out;
}

ordered_json check_json(const Check& check) {
  ordered_json out = {{"passed", check.passed()},       {"exclusive_grants", check.exclusive},
                      {"increments", check.increments}, {"counter", check.counter},
                      {"torn_reads", check.torn},       {"overlaps", check.overlap}};
  if (check.inserted != 0) {
    out["inserted"] = check.inserted;
    out["found"] = check.found;
    out["missed_reads"] = check.missed;
  }
  if (!check.passed()) out["failure"] = check.failure;
  return out;
}

ordered_json configuration_json(const RunResult& result) {
  const Plan& plan = result.plan;
  const RunOptions& o = plan.options;
  ordered_json out = {{"lock", o.lock},
                      {"bench", o.bench},
                      {"fabric", o.fabric},
                      {"ranks", plan.ranks},
                      {"threads", plan.threads},
                      {"locks", plan.locks},
                      {"home", o.home},
                      {"stride", o.stride},
                      {"draws", o.draws},
                      {"fw", o.fw},
                      {"roles", o.roles},
                      {"warmup_acquires", plan.warm_up},
                      {"measured_acquires", plan.measured},
                      {"seconds", o.seconds},
                      {"work_min_ns", o.work_min_ns},
                      {"work_max_ns", o.work_max_ns},
                      {"sample", o.sample},
                      {"check", o.check},
                      {"seed", o.seed},
                      {"topology", result.topology}};
  if (o.locality) out["locality"] = *o.locality;
  if (o.fabric == "sim") out["machine"] = o.machine;
  return out;
}

void add_simulation(ordered_json& out, const Simulation& run) {
  ordered_json parameters = ordered_json::object();
  for (const auto& parameter : run.parameters) parameters[parameter.name] = parameter.value;
  out["simulation"] = {{"virtual_ns", run.virtual_ns},
                       {"events", run.events},
                       {"operations", run.operations},
                       {"parameters", parameters}};
  const auto per_s = [&](std::uint64_t n) {
    return run.processor_s > 0 ? static_cast<double>(n) / run.processor_s : 0;
  };
  out["host_time"] = {{"seconds", run.host_s},
                      {"processor_seconds", run.processor_s},
                      {"events_per_s", per_s(run.events)},
                      {"operations_per_s", per_s(run.operations)}};
}

}  // namespace

ordered_json result_json(const Point& point, const RunResult& result) {
  ordered_json out = ordered_json::object();
  for (const auto& [name, value] : point.values) out["sweep"][name] = value;
  out["configuration"] = configuration_json(result);
  out["rerun"] = words_of(result.plan.options);
  out["throughput_per_s"] = result.throughput_per_s();
  out["acquires"] = result.acquires();
  out["exclusive"] = result.exclusive;
  out["shared"] = result.shared;
  out["seconds"] = result.seconds;
  if (result.plan.options.sample != 0) {
    out["latency"] = {{"acquire", latency_json(result.latencies.acquire)},
                      {"release", latency_json(result.latencies.release)},
                      {"both", latency_json(result.latencies.both)}};
  }
  out["fairness"] = {{"jain_index", nullptr}, {"longest_bypass", nullptr}};
  if (result.jain) out["fairness"]["jain_index"] = *result.jain;
  if (result.bypass) out["fairness"]["longest_bypass"] = *result.bypass;
  out["grants"] = {{"contended", result.stats.contended},
                   {"handovers", result.stats.handovers()},
                   {"handovers_by_level", handovers_json(result)}};
  if (result.counts.levels() != 0) out["operations"] = counts_json(result);
  if (result.simulation) add_simulation(out, *result.simulation);
  out["check"] = check_json(result.check);
  out["warnings"] = result.plan.warnings;
  return out;
}

ordered_json report_json(const Options& options, std::vector<ordered_json> runs) {
  ordered_json out = {{"program", "lockbench"},
                      {"version", program::version()},
                      {"revision", program::revision()},
                      {"compiler", program::compiler()},
                      {"time_ms", wall_ms()},
                      {"host", program::host_json()},
                      {"command_line", options.words}};
  if (options.sweeps.empty() && runs.size() == 1) {
    out.update(runs.front());
  } else {
    out["points"] = std::move(runs);
  }
  return out;
}

}  // namespace keyway::lockbench
