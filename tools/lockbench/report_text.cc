#include <fmt/core.h>

#include <iterator>

#include "report.h"

namespace keyway::lockbench {
namespace {

std::string_view fabric_name(const RunOptions& options) {
  return options.fabric == "sim" ? options.machine : options.fabric;
}

void add_latency(std::string& text, std::string_view name, const Histogram& h) {
  fmt::format_to(std::back_inserter(text),
                 "{:<18}mean {:.0f}, 50% {}, 95% {}, 99% {}, 99.9% {}, max {}\n", name, h.mean(),
                 h.percentile(50), h.percentile(95), h.percentile(99), h.percentile(99.9), h.max());
}

void add_row(std::string& text, std::string_view name, const fabric::OpCounts::Row& row,
             double acquires) {
  std::uint64_t total = 0;
  for (const std::uint64_t n : row) total += n;
  if (total == 0) return;
  fmt::format_to(std::back_inserter(text), "  {:<16}", name);
  for (const std::uint64_t n : row) {
    fmt::format_to(std::back_inserter(text), " {:>10.3f}", static_cast<double>(n) / acquires);
  }
  text += '\n';
}

void add_counts(std::string& text, const RunResult& result) {
  if (result.counts.levels() == 0 || result.acquires() == 0) return;
  fmt::format_to(std::back_inserter(text), "{:<18}", "per acquire");
  for (const std::string& level : result.levels) {
    fmt::format_to(std::back_inserter(text), " {:>10}", level);
  }
  text += '\n';
  const auto acquires = static_cast<double>(result.acquires());
  using fabric::sim::OpClass;
  for (const OpClass access : {OpClass::kCpu, OpClass::kRma}) {
    for (std::size_t k = 0; k < fabric::OpCounts::kKinds; ++k) {
      const auto kind = static_cast<fabric::sim::OpKind>(k);
      add_row(text, fmt::format("{} {}", access == OpClass::kCpu ? "cpu" : "rma", name_of(kind)),
              result.counts.of(access, kind), acquires);
    }
  }
  add_row(text, "flush", result.counts.flushes, acquires);
  add_row(text, "look of a wait", result.counts.looks, acquires);
}

void add_simulation(std::string& text, const Simulation& run) {
  const auto per_s = [&](std::uint64_t n) {
    return run.processor_s > 0 ? static_cast<double>(n) / run.processor_s : 0;
  };
  fmt::format_to(
      std::back_inserter(text),
      "{:<18}{} events, {} operations, {:.6f} s of virtual time\n"
      "{:<18}{:.2f} s, {:.2f} s of one processor: {:.0f} events/s, {:.0f} operations/s\n",
      "simulated", run.events, run.operations, run.virtual_ns / 1e9, "on this host", run.host_s,
      run.processor_s, per_s(run.events), per_s(run.operations));
}

std::string fairness(const RunResult& result) {
  std::string text = result.jain ? fmt::format("Jain index {:.4f}", *result.jain) : "not measured";
  if (result.bypass) text += fmt::format(", longest bypass {}", *result.bypass);
  return text;
}

}  // namespace

std::string text_report(const RunResult& result) {
  const RunOptions& options = result.plan.options;
  std::string text = fmt::format(
      "{}, {} on {}, {} ranks x {} agents, {} locks, fw {:g}, seed {}\n{:<18}{}\n"
      "{:<18}{:.1f}\n{:<18}{} ({} exclusive) in {:.6f} s\n",
      options.lock, options.bench, fabric_name(options), result.plan.ranks, result.plan.threads,
      result.plan.locks, options.fw, options.seed, "topology", result.topology, "throughput_per_s",
      result.throughput_per_s(), "acquires", result.acquires(), result.exclusive, result.seconds);
  if (options.sample != 0) {
    add_latency(text, "acquire, ns", result.latencies.acquire);
    add_latency(text, "release, ns", result.latencies.release);
    add_latency(text, "both, ns", result.latencies.both);
  }
  fmt::format_to(std::back_inserter(text), "{:<18}{}\n{:<18}{} contended, {} handed over\n",
                 "fairness", fairness(result), "grants", result.stats.contended,
                 result.stats.handovers());
  add_counts(text, result);
  if (result.simulation) add_simulation(text, *result.simulation);
  const Check& check = result.check;
  fmt::format_to(std::back_inserter(text), "{:<18}{}\n", "check",
                 check.passed()
                     ? fmt::format("passed: {} exclusive grants; {} checked increments, counter {}",
                                   check.exclusive, check.increments, check.counter)
                     : "FAILED: " + check.failure);
  if (check.inserted != 0) {
    fmt::format_to(std::back_inserter(text), "{:<18}{} integers inserted, {} found, {} missed\n",
                   "volume", check.inserted, check.found, check.missed);
  }
  return text;
}

std::string text_line(const Point& point, const RunResult& result) {
  return fmt::format("{}: {:.1f}/s, both mean {:.0f} ns, 99% {} ns, {}, check {}\n", point.name(),
                     result.throughput_per_s(), result.latencies.both.mean(),
                     result.latencies.both.percentile(99), fairness(result),
                     result.check.passed() ? "passed" : "FAILED: " + result.check.failure);
}

std::string csv_header(const Point& point) {
  std::string text;
  for (const auto& [name, value] : point.values) text += "sweep." + name + ",";
  text +=
      "lock,bench,fabric,machine,ranks,threads,locks,fw,locality,seed,acquires,exclusive,seconds,"
      "throughput_per_s";
  for (const std::string_view part : {"acquire", "release", "both"}) {
    fmt::format_to(std::back_inserter(text),
                   ",{0}_mean_ns,{0}_p50_ns,{0}_p95_ns,{0}_p99_ns,"
                   "{0}_max_ns",
                   part);
  }
  return text + ",jain,longest_bypass,events,operations,virtual_ns,check\n";
}

std::string csv_line(const Point& point, const RunResult& result) {
  const RunOptions& options = result.plan.options;
  const auto quoted = [](const std::string& value) { return '"' + value + '"'; };
  std::string text;
  for (const auto& [name, value] : point.values) text += quoted(value) + ",";
  fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{},{},{},{:.9f},{:.3f}",
                 quoted(options.lock), options.bench, options.fabric,
                 options.fabric == "sim" ? quoted(options.machine) : "", result.plan.ranks,
                 result.plan.threads, result.plan.locks, options.fw,
                 options.locality ? fmt::format("{}", *options.locality) : "", options.seed,
                 result.acquires(), result.exclusive, result.seconds, result.throughput_per_s());
  for (const auto* h :
       {&result.latencies.acquire, &result.latencies.release, &result.latencies.both}) {
    fmt::format_to(std::back_inserter(text), ",{:.1f},{},{},{},{}", h->mean(), h->percentile(50),
                   h->percentile(95), h->percentile(99), h->max());
  }
  text += result.jain ? fmt::format(",{:.6f}", *result.jain) : ",";
  text += result.bypass ? fmt::format(",{}", *result.bypass) : ",";
  text += result.simulation
              ? fmt::format(",{},{},{:.0f}", result.simulation->events,
                            result.simulation->operations, result.simulation->virtual_ns)
              : ",,,";
  return text + (result.check.passed() ? ",passed\n" : ",FAILED\n");
}

}  // namespace keyway::lockbench
