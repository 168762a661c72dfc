// lockcheck: explores the orders in which agents can use a lock.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/distributed/any_lock.h"
#include "keyway/tools/lockcheck/lock_program.h"

namespace keyway::lockcheck {
namespace {

constexpr int kExitViolation = 1;
constexpr int kExitUsage = 2;
constexpr int kExitIncomplete = 3;
constexpr std::uint32_t kMostAgents = 8;

struct Options {
  std::string lock;
  std::string agents = "3w";
  LockShape shape;
  std::string explore = "exhaustive";
  std::uint64_t seed = 1;
  std::uint64_t executions = 100'000;
  std::uint64_t most_states = 20'000'000;
  std::string replay;
  fabric::sim::ExploreOptions how;
};

/// "3" or "3w": writers; "2r1w": readers and writers.
bool parse_agents(std::string_view text, LockShape& shape) {
  shape.readers = shape.writers = 0;
  std::uint32_t number = 0;
  bool digits = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      number = number * 10 + static_cast<std::uint32_t>(c - '0');
      digits = true;
      if (number > kMostAgents) return false;
      continue;
    }
    if (!digits || (c != 'r' && c != 'w')) return false;
    (c == 'r' ? shape.readers : shape.writers) += number;
    number = 0;
    digits = false;
  }
  if (digits) shape.writers += number;
  return shape.agents() >= 1 && shape.agents() <= kMostAgents;
}

int usage(const std::string& sentence) {
  fmt::print(stderr, "lockcheck: {}\n", sentence);
  return kExitUsage;
}

std::string command(const Options& options) {
  return fmt::format("lockcheck --lock {} --agents {} --rounds {} --ranks {}{}", options.lock,
                     options.agents, options.shape.rounds, options.shape.ranks,
                     options.how.split_rma ? " --split-rma" : "");
}

int show(const Options& options, const fabric::sim::ExploreReport& report, std::uint64_t ns) {
  fmt::print("{}, {} agents ({} readers, {} writers), {} acquires each, {} ranks\n", options.lock,
             options.shape.agents(), options.shape.readers, options.shape.writers,
             options.shape.rounds, options.shape.ranks);
  fmt::print("{} states, {} executions, {} steps, {:.1f} s\n", report.states, report.executions,
             report.steps, static_cast<double>(ns) / 1e9);
  if (report.violation) {
    fmt::print("VIOLATION {}\n", report.violation->what);
    for (std::size_t i = 0; i < report.violation->trace.size(); ++i) {
      fmt::print("{:4} {}\n", i + 1, report.violation->trace[i]);
    }
    fmt::print("replay: {} --replay {}\n", command(options), report.violation->schedule);
    return kExitViolation;
  }
  if (options.explore == "exhaustive" && options.replay.empty() && !report.complete) {
    fmt::print("no violation so far; not complete: raise --states\n");
    return kExitIncomplete;
  }
  fmt::print("no violation{}\n", report.complete ? ": every order was tried" : "");
  return 0;
}

int explore(const Options& options) {
  auto lock = locks::AnyLock::make(options.lock);
  if (!lock.ok()) return usage(std::string(lock.status().message()));
  LockProgram<locks::AnyLock> program(*lock, options.shape);
  fabric::sim::Explorer explorer(program, options.how);
  program.attach(explorer);
  const std::uint64_t begun = steady_ns();
  fabric::sim::ExploreReport report;
  if (!options.replay.empty()) {
    report = explorer.replay(options.replay);
  } else if (options.explore == "random") {
    report = explorer.random(options.seed, options.executions);
  } else {
    report = explorer.exhaust(options.most_states);
  }
  const std::uint64_t took = steady_ns() - begun;
  if (report.violation && options.replay.empty()) {  // once more, for its trace
    report.violation = explorer.replay(report.violation->schedule).violation;
  }
  return show(options, report, took);
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app("Tries every order in which agents can use a lock, on the simulated machine.");
  app.set_version_flag("--version", "lockcheck " LOCKCHECK_VERSION);
  app.footer(
      fmt::format("Locks: {}, each with its parameters, e.g. gbh:lockall=off\n"
                  "Example: lockcheck --lock fompi-rw --agents 1r2w\n"
                  "Exit code: 0 no violation, 1 a violation, 2 usage, 3 stopped at --states",
                  fmt::join(locks::AnyLock::kNames, ", ")));
  app.add_option("--lock", options.lock, "the lock kind, with its parameters")->required();
  app.add_option("--agents", options.agents, "readers and writers, e.g. 2r1w; 3 means 3w")
      ->capture_default_str();
  app.add_option("--rounds", options.shape.rounds, "acquires of each agent")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--ranks", options.shape.ranks, "agent i lives at rank i modulo this")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--explore", options.explore, "exhaustive, or random orders by --seed")
      ->check(CLI::IsMember({"exhaustive", "random"}))
      ->capture_default_str();
  app.add_option("--states", options.most_states, "exhaustive: stop after so many states")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "random: the same seed gives the same orders")
      ->capture_default_str();
  app.add_option("--executions", options.executions, "random: so many orders")
      ->capture_default_str();
  app.add_flag("--split-rma", options.how.split_rma,
               "rma read-modify-writes in two steps, between which the cpu class may come");
  app.add_option("--replay", options.replay, "run this one order, as a violation prints it");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    return usage(error.what());
  }
  if (!parse_agents(options.agents, options.shape)) {
    return usage(fmt::format("--agents {} is not understood: write 1 to {} agents as 3, 3w or 2r1w",
                             options.agents, kMostAgents));
  }
  return explore(options);
}

}  // namespace
}  // namespace keyway::lockcheck

int main(int argc, char** argv) { return keyway::lockcheck::main_of(argc, argv); }
