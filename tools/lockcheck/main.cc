// lockcheck: explores the orders in which agents can use a lock.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/distributed/any_lock.h"
#include "keyway/tools/lockcheck/lock_program.h"
#include "options.h"
#include "output.h"

namespace keyway::lockcheck {
namespace {

std::unique_ptr<fabric::sim::Program> program_of(const Options& options) {
  if (options.real) return options.mutant->real(options.shape);
  if (options.mutant != nullptr) return options.mutant->make(options.shape);
  if (options.shape.alls != 0) {  // AnyLock offers what all kinds have
    return std::make_unique<LockProgram<locks::FompiRw>>(
        *locks::FompiRw::make(*locks::LockParams::parse(options.lock)), options.shape);
  }
  return std::make_unique<LockProgram<locks::AnyLock>>(*locks::AnyLock::make(options.lock),
                                                       options.shape);
}

/// The options of the command line, and those without which the mutant cannot be found.
fabric::sim::ExploreOptions explorer_of(const Options& options) {
  fabric::sim::ExploreOptions how = options.explorer;
  if (options.mutant != nullptr) {
    const fabric::sim::ExploreOptions& its = options.mutant->explorer;
    how.split_rma = how.split_rma || its.split_rma;
    how.store_buffers = how.store_buffers || its.store_buffers;
    how.double_stores = how.double_stores || its.double_stores;
  }
  return how;
}

Result explore(const Options& options) {
  const auto program = program_of(options);
  fabric::sim::Explorer explorer(*program, explorer_of(options));
  const std::uint64_t begun = steady_ns();
  Result result{options, {}, 0};
  if (!options.replay.empty()) {
    result.report = explorer.replay(options.replay);
  } else {
    switch (options.how) {
      case How::kExhaustive: result.report = explorer.exhaust(options.most_states); break;
      case How::kPreemptions:
        result.report = explorer.bounded(options.bound, options.most_states);
        break;
      case How::kRandom: result.report = explorer.random(options.seed, options.executions); break;
      case How::kPct:
        result.report = explorer.pct(options.seed, options.executions, options.depth);
        break;
    }
  }
  result.took_ns = steady_ns() - begun;
  return result;
}

/// Whether the order of a finding shows the same once more.
bool replays(const Options& options, const fabric::sim::Finding& found) {
  const auto program = program_of(options);
  const auto again =
      fabric::sim::Explorer(*program, explorer_of(options)).replay(found.schedule).violation;
  return again && again->what == found.what && again->trace == found.trace;
}

/// One line; whether the mutant was killed by the property that it violates, in an order that
/// replays.
bool show_mutant(const Result& result) {
  const Mutant& mutant = *result.options.mutant;
  const auto& violation = result.report.violation;
  const bool found = violation && violation->what.starts_with(mutant.property);
  const bool killed = found && replays(result.options, *violation);
  const char* verdict = killed ? "killed" : found ? "DOES NOT REPLAY" : "LIVES ";
  fmt::print("{} {}: {}; {}; {} states", verdict, mutant.name, mutant.defect,
             violation ? violation->what : "no violation", result.report.states);
  if (violation) {
    fmt::print("; lockcheck --mutant {} --replay '{}'", mutant.name, violation->schedule);
  }
  fmt::print("\n");
  std::fflush(stdout);
  return killed;
}

/// One line; whether the kind of a mutant is clean in the mutant's shape.
bool show_real(const Result& result) {
  const Mutant& mutant = *result.options.mutant;
  const auto& violation = result.report.violation;
  const bool clean = !violation && (result.report.complete || result.options.how == How::kRandom);
  fmt::print("{} {} in the shape of {}: {}; {} states{}\n", clean ? "clean" : "NOT CLEAN",
             mutant.kind, mutant.name, violation ? violation->what : "no violation",
             result.report.states,
             mutant.why_slow.empty() ? "" : fmt::format(" in random orders: {}", mutant.why_slow));
  if (violation) fmt::print("  see it: {}\n", replay_line(result.options, *violation));
  std::fflush(stdout);
  return clean;
}

/// The real kinds, each once in each shape: the defect must be the reason of each kill.
bool explore_reals(const Options& options, std::vector<Result>& results) {
  bool clean = true;
  for (const Mutant* mutant : distinct_reals()) {
    Options one = options;
    one.mutant = mutant;
    one.real = true;
    one.shape = mutant->shape;
    if (!mutant->why_slow.empty()) {
      one.how = How::kRandom;
      one.explore = "random";
    }
    results.push_back(explore(one));
    clean = show_real(results.back()) && clean;
  }
  return clean;
}

int explore_mutants(const Options& options, std::vector<Result>& results) {
  std::size_t killed = 0;
  for (const Mutant& mutant : all_mutants()) {
    Options one = options;
    one.mutant = &mutant;
    one.shape = mutant.shape;
    results.push_back(explore(one));
    killed += show_mutant(results.back()) ? 1 : 0;
  }
  const bool clean = explore_reals(options, results);
  fmt::print("{} of {} mutants killed\n", killed, all_mutants().size());
  return clean && killed == all_mutants().size() ? 0 : kExitViolation;
}

int main_of(int argc, char** argv) {
  const Parsed parsed = parse(argc, argv);
  if (!parsed.options) return parsed.exit_code;
  const Options& options = *parsed.options;
  std::vector<Result> results;
  int exit_code = 0;
  if (options.all_mutants) {
    exit_code = explore_mutants(options, results);
  } else {
    results.push_back(explore(options));
    exit_code = show(results.back());
  }
  if (options.json.empty()) return exit_code;
  if (auto written = write_json(options.json, options.command_line, results); !written.ok()) {
    fmt::print(stderr, "lockcheck: {}\n", written.message());
    return kExitUsage;
  }
  return exit_code;
}

}  // namespace
}  // namespace keyway::lockcheck

int main(int argc, char** argv) { return keyway::lockcheck::main_of(argc, argv); }
