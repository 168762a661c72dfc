#include "output.h"

#include <fmt/core.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "keyway/client/program/output_file.h"
#include "keyway/client/program/provenance.h"

namespace keyway::lockcheck {

using fabric::sim::ExploreReport;
using fabric::sim::Finding;

std::string replay_line(const Options& options, const Finding& finding) {
  return fmt::format("lockcheck {} --replay '{}'", options.program_flags(), finding.schedule);
}

namespace {

void show_trace(const Options& options, const Finding& finding) {
  for (std::size_t i = 0; i < finding.trace.size(); ++i) {
    fmt::print("{:4} {}\n", i + 1, finding.trace[i]);
  }
  fmt::print("replay: {}\n", replay_line(options, finding));
}

void show_subject(const Options& options) {
  const LockShape& shape = options.shape;
  const char* calls = !shape.manners.empty()           ? "acquires, tries or deadlines"
                      : shape.manner == Manner::kTimed ? "acquires with a deadline"
                      : shape.manner == Manner::kTry   ? "tries"
                                                       : "acquires";
  fmt::print("{}, {} agents ({} readers, {} writers{}), {}, {} ranks\n",
             options.real                ? options.mutant->kind
             : options.mutant != nullptr ? options.mutant->name
                                         : options.lock,
             shape.agents(), shape.readers, shape.writers,
             shape.alls != 0 ? fmt::format(", {} with LOCKALL", shape.alls) : "",
             shape.forever ? fmt::format("{} for ever", calls)
                           : fmt::format("{} {} each", shape.rounds, calls),
             shape.ranks);
  if (options.mutant != nullptr && !options.real) {
    fmt::print("its defect: {}\n", options.mutant->defect);
  }
}

void show_waiting(const Options& options, const fabric::sim::Waiting& waiting) {
  if (waiting.livelock) {
    fmt::print("agents can hold each other up: {}\n", waiting.livelock->what);
    fmt::print("  see it: {}\n", replay_line(options, *waiting.livelock));
  }
  if (waiting.starvation) {
    fmt::print("agents can starve: {}\n", waiting.starvation->what);
    fmt::print("  see it: {}\n", replay_line(options, *waiting.starvation));
  } else if (options.replay.empty()) {
    fmt::print("no agent can starve: no fair cycle leaves an agent out\n");
  }
  if (waiting.bypass) {
    fmt::print("bypass: others enter at most {} times past an agent that waits{}\n",
               *waiting.bypass, options.shape.forever ? "" : " (in this many rounds)");
  } else if (options.replay.empty()) {
    fmt::print("bypass: unbounded\n");
    if (!waiting.starvation) fmt::print("  see it: {}\n", replay_line(options, *waiting.unbounded));
  }
}

void show_bounds(const ExploreReport& report) {
  for (std::size_t k = 0; k < report.by_preemptions.size(); ++k) {
    fmt::print("{:>12} states with at most {} preemptions\n", report.by_preemptions[k], k);
  }
}

int show_outcome(const Options& options, const ExploreReport& report) {
  if (!options.replay.empty()) {
    fmt::print("this order shows no violation\n");
  } else if (report.complete) {
    fmt::print("no violation: every order was tried\n");
  } else if (options.how == How::kExhaustive ||
             (options.how == How::kPreemptions && report.states >= options.most_states)) {
    fmt::print("no violation so far; not complete: raise --states\n");
    return kExitIncomplete;
  } else if (options.how == How::kPreemptions) {
    fmt::print("no violation: every order with at most {} preemptions was tried\n", options.bound);
  } else {
    fmt::print("no violation in the orders of seed {}; the longest took {} steps{}\n", options.seed,
               report.longest,
               report.cut != 0
                   ? fmt::format(", {} were cut at {}", report.cut, options.explorer.most_steps)
                   : "");
  }
  return 0;
}

}  // namespace

int show(const Result& result) {
  const Options& options = result.options;
  const ExploreReport& report = result.report;
  show_subject(options);
  const bool uncounted = report.states == options.explorer.most_counted &&
                         (options.how == How::kRandom || options.how == How::kPct);
  fmt::print("{}{} states, {} executions, {} steps, {:.1f} s\n", uncounted ? "more than " : "",
             report.states, report.executions, report.steps,
             static_cast<double>(result.took_ns) / 1e9);
  show_bounds(report);
  if (report.violation) {
    fmt::print("VIOLATION {}\n", report.violation->what);
    show_trace(options, *report.violation);
    return kExitViolation;
  }
  if (report.waiting && !options.replay.empty() && report.waiting->unbounded) {
    fmt::print("{}\n", report.waiting->unbounded->what);
    show_trace(options, *report.waiting->unbounded);
    return 0;
  }
  if (report.waiting) show_waiting(options, *report.waiting);
  return show_outcome(options, report);
}

// --- JSON

namespace {

using nlohmann::ordered_json;

ordered_json finding_json(const Options& options, const Finding& finding) {
  return {{"what", finding.what},
          {"schedule", finding.schedule},
          {"replay", replay_line(options, finding)},
          {"trace", finding.trace}};
}

ordered_json shape_json(const LockShape& shape) {
  ordered_json out = {
      {"readers", shape.readers}, {"lockall", shape.alls}, {"writers", shape.writers}};
  if (shape.forever) {
    out["rounds"] = "forever";
  } else {
    out["rounds"] = shape.rounds;
  }
  out["ranks"] = shape.ranks;
  out["manner"] = name_of(shape.manner);
  if (!shape.manners.empty()) {
    out["manner"] = ordered_json::array();
    for (const Manner manner : shape.manners) out["manner"].push_back(name_of(manner));
  }
  out["ask_token"] = shape.ask_token;
  return out;
}

ordered_json result_json(const Result& result) {
  const Options& options = result.options;
  const ExploreReport& report = result.report;
  ordered_json out;
  if (options.real) {
    out["lock"] = options.mutant->kind;
  } else if (options.mutant != nullptr) {
    out["mutant"] = options.mutant->name;
    out["defect"] = options.mutant->defect;
    out["property"] = options.mutant->property;
  } else {
    out["lock"] = options.lock;
  }
  out["rerun"] = fmt::format("lockcheck {} {}", options.program_flags(), options.order_flags());
  out["program"] = shape_json(options.shape);
  out["split_rma"] = options.explorer.split_rma;
  out["store_buffers"] = options.explorer.store_buffers;
  out["double_stores"] = options.explorer.double_stores;
  out["reduced"] = options.explorer.reduce;
  out["explore"] = options.replay.empty() ? options.explore : "replay";
  if (options.how == How::kRandom || options.how == How::kPct) out["seed"] = options.seed;
  out["states"] = report.states;
  out["executions"] = report.executions;
  out["steps"] = report.steps;
  out["longest_execution_steps"] = report.longest;
  out["cut_executions"] = report.cut;
  if (!report.by_preemptions.empty()) out["states_by_preemptions"] = report.by_preemptions;
  out["complete"] = report.complete;
  out["took_s"] = static_cast<double>(result.took_ns) / 1e9;
  out["violation"] = nullptr;
  if (report.violation) out["violation"] = finding_json(options, *report.violation);
  if (report.waiting) {
    out["livelock"] = nullptr;
    if (report.waiting->livelock)
      out["livelock"] = finding_json(options, *report.waiting->livelock);
    out["starvation"] = nullptr;
    if (report.waiting->starvation) {
      out["starvation"] = finding_json(options, *report.waiting->starvation);
    }
    out["bypass"] = nullptr;  // no bound
    if (report.waiting->bypass) out["bypass"] = *report.waiting->bypass;
  }
  return out;
}

}  // namespace

Status write_json(const std::string& path, const std::string& command_line,
                  const std::vector<Result>& results) {
  ordered_json out = {{"program", "lockcheck"},          {"version", program::version()},
                      {"revision", program::revision()}, {"compiler", program::compiler()},
                      {"command_line", command_line},    {"results", ordered_json::array()}};
  for (const Result& result : results) out["results"].push_back(result_json(result));
  return program::write_file(path, out.dump(2) + "\n");
}

}  // namespace keyway::lockcheck
