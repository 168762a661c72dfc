#include "options.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "keyway/locks/distributed/any_lock.h"

#include "keyway/client/program/output_file.h"
#include "keyway/client/program/provenance.h"

namespace keyway::lockcheck {
namespace {

constexpr std::uint32_t kMaxAgents = fabric::sim::kMaxExplored;
constexpr std::uint32_t kMaxRanks = 64;
constexpr std::uint32_t kMaxNodes = 8;
constexpr const char* kForever = "forever";

constexpr const char* kFooter = R"(
How the next step is chosen (--explore):
  exhaustive   every order, breadth first; then livelock, starvation and bypass
                 lockcheck --lock d-mcs --agents 3
                 lockcheck --lock fompi-rw --agents 2r1w --rounds forever
  preemptions  every order with at most --bound preemptions of running agents
                 lockcheck --lock d-mcs --agents 4w --explore preemptions --bound 2
  random       random orders, uniformly
                 lockcheck --lock gbh --agents 3r3w --explore random --seed 7 --executions 50000
  pct          random priorities with --depth - 1 changes: finds defects of few steps
                 lockcheck --lock d-mcs --agents 8 --explore pct --depth 3 --seed 7
How agents acquire:
  --timed      deadlines may pass     lockcheck --lock d-mcs --agents 2 --timed --rounds 2
  --try        try_acquire            lockcheck --lock fompi-rw --agents 1r2w --try
  --manners    one per agent: wait, timed or try. Agents that wait must be granted
                 lockcheck --lock mcs-wp --agents 2r1w --manners wait,wait,timed
Effects of the machine to explore:
  --store-buffers   other agents see a processor's stores late, in order, as on x86
                 lockcheck --lock alock --agents 2 --ranks 1 --timed --store-buffers
  --double-stores   an rma store happens twice, as with MPICH
  --split-rma       an rma read-modify-write is a read, and later a write
Defects:
  --mutants    every lock with a defect, and how it is killed; then the real kinds in the same
               shapes, which must be clean (builds with tests)
  --mutant M   one of them            lockcheck --mutant d-mcs/lost-link
  --real       the kind that it is made from, in the same shape: it must be clean
  --replay S   one order again, as a finding prints it; stem(loop) is a cycle

Locks: {}, each with its parameters, e.g. gbh:lockall=off
Exit code: 0 no violation (--mutants: each killed, each real kind clean), 1 a violation
           (--mutants: one lives, or a real kind is not clean),
           2 usage, 3 stopped at --states)";

/// "3" or "3w": writers; "2r1w": readers and writers; "1a": an agent that takes LOCKALL.
bool parse_agents(std::string_view text, LockShape& shape) {
  shape.readers = shape.alls = shape.writers = 0;
  std::uint32_t number = 0;
  bool digits = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      number = number * 10 + static_cast<std::uint32_t>(c - '0');
      digits = true;
      if (number > kMaxAgents) return false;
      continue;
    }
    if (!digits || (c != 'r' && c != 'w' && c != 'a')) return false;
    (c == 'r' ? shape.readers : c == 'a' ? shape.alls : shape.writers) += number;
    number = 0;
    digits = false;
  }
  if (digits) shape.writers += number;
  return shape.agents() >= 1 && shape.agents() <= kMaxAgents;
}

bool takes_all(const std::string& lock) {
  const auto params = locks::LockParams::parse(lock);
  const std::string& kind = params->kind();
  return (kind == locks::FompiRw::kName || kind == locks::FompiRw::kNameWithBackoff) &&
         lock.find("lockall=off") == std::string::npos;
}

bool parse_rounds(const std::string& text, LockShape& shape) {
  shape.forever = text == kForever;
  if (shape.forever) return true;
  if (text.empty() || text.size() > 3 ||
      text.find_first_not_of("0123456789") != std::string::npos) {
    return false;
  }
  shape.rounds = static_cast<std::uint32_t>(std::stoul(text));
  return shape.rounds >= 1 && shape.rounds <= 100;
}

// The program options before they are parsed.
struct Texts {
  std::string mutant, agents, rounds;
  std::string topology;
  std::uint32_t ranks = 0, nodes = 0;
  std::vector<std::uint32_t> homes;
  bool timed = false, tried = false;
  std::vector<std::string> manners;  // one per agent
};

void declare(CLI::App& app, Options& options, Texts& texts) {
  app.add_option("--lock", options.lock, "the lock kind, with its parameters");
  app.add_option("--agents", texts.agents,
                 "readers, writers and LOCKALL agents, e.g. 2r1w or 1a2w; 3 means 3w [3w]");
  app.add_option("--rounds", texts.rounds,
                 "acquires of each agent, or forever: then states repeat [1]");
  app.add_option("--ranks", texts.ranks,
                 "number of ranks; agent i has its home on rank i modulo this [2]")
      ->check(CLI::Range(1u, kMaxRanks));
  app.add_option("--homes", texts.homes, "the home rank of each agent instead, e.g. 0,1,2,4")
      ->delimiter(',');
  app.add_option("--topology", texts.topology,
                 "ranks that share a node and a rack, e.g. nodes=2 or racks=2,nodes=4 [one node "
                 "per rank]");
  app.add_option("--nodes", texts.nodes, "queue nodes of each agent [2]")
      ->check(CLI::Range(1u, kMaxNodes));
  auto* timed = app.add_flag("--timed", texts.timed, "agents acquire with a deadline");
  auto* tried = app.add_flag("--try", texts.tried, "agents use try_acquire")->excludes(timed);
  app.add_option("--manners", texts.manners, "one per agent instead: wait, timed or try")
      ->delimiter(',')
      ->check(CLI::IsMember({"wait", "timed", "try"}))
      ->excludes(timed)
      ->excludes(tried);
  app.add_flag("--ask-token", options.shape.ask_token,
               "agents ask for their fencing token while they hold the lock");
  app.add_flag("--split-rma", options.explorer.split_rma,
               "rma read-modify-writes are two steps, and cpu operations may come between");
  app.add_flag("--store-buffers", options.explorer.store_buffers,
               "other agents see cpu stores some time later, in order");
  app.add_flag("--double-stores", options.explorer.double_stores,
               "rma stores happen twice, and cpu operations may come between");
  app.add_flag_callback(
      "--no-reduction", [&options] { options.explorer.reduce = false; },
      "also try orders that no agent can distinguish from others");
  app.add_option("--explore", options.explore, "the orders to try, see below")
      ->check(CLI::IsMember({"exhaustive", "preemptions", "random", "pct"}))
      ->capture_default_str();
  app.add_option("--bound", options.bound, "preemptions: maximum number")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--depth", options.depth, "pct: ordered steps that the defect needs")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "random, pct: the same seed gives the same orders")
      ->capture_default_str();
  app.add_option("--executions", options.executions, "random, pct: number of orders")
      ->capture_default_str();
  app.add_option("--steps", options.explorer.most_steps,
                 "random, pct: maximum number of steps of an execution")
      ->capture_default_str();
  app.add_option("--states", options.most_states,
                 "exhaustive, preemptions: maximum number of states")
      ->capture_default_str();
  app.add_option("--mutant", texts.mutant, "explore a lock with a known defect");
  app.add_flag("--real", options.real, "with --mutant: explore the kind that it is made from");
  app.add_flag("--mutants", options.all_mutants,
               "explore every mutant and print how each is killed; then their real kinds");
  app.add_option("--replay", options.replay, "run this one order, as a finding prints it");
  app.add_option("--json", options.json, "write the result and the configuration to this file");
}

std::string names_of_mutants() {
  std::vector<std::string> names;
  for (const Mutant& mutant : all_mutants()) names.push_back(mutant.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The error in the options as a whole, or nothing; fills in options that depend on others.
std::string finish_parsing(Options& options, const Texts& texts) {
  if ((options.all_mutants || !texts.mutant.empty()) && all_mutants().empty()) {
    return "this lockcheck has no mutants: build it with -DKEYWAY_TESTS=ON";
  }
  const int subjects = (options.lock.empty() ? 0 : 1) + (texts.mutant.empty() ? 0 : 1) +
                       (options.all_mutants ? 1 : 0);
  if (subjects != 1) return "give one of --lock KIND, --mutant NAME and --mutants";
  if (options.real && texts.mutant.empty()) return "--real needs --mutant NAME";
  if (!texts.mutant.empty()) {
    for (const Mutant& mutant : all_mutants()) {
      if (mutant.name == texts.mutant) options.mutant = &mutant;
    }
    if (options.mutant == nullptr) {
      return fmt::format("there is no mutant '{}'; choose one of {}", texts.mutant,
                         names_of_mutants());
    }
    const bool ask_token = options.shape.ask_token;
    options.shape = options.mutant->shape;
    options.shape.ask_token = options.shape.ask_token || ask_token;
  }
  if (!texts.agents.empty() && !parse_agents(texts.agents, options.shape)) {
    return fmt::format("--agents {} is malformed: write 1 to {} agents as 3, 3w, 2r1w or 1a2w",
                       texts.agents, kMaxAgents);
  }
  if (!texts.rounds.empty() && !parse_rounds(texts.rounds, options.shape)) {
    return fmt::format("--rounds {} is malformed: write 1 to 100, or forever", texts.rounds);
  }
  if (texts.ranks != 0) options.shape.ranks = texts.ranks;
  if (!texts.homes.empty()) options.shape.homes = texts.homes;
  if (const auto& homes = options.shape.homes; !homes.empty()) {
    if (homes.size() != options.shape.agents() ||
        *std::max_element(homes.begin(), homes.end()) >= options.shape.ranks) {
      return fmt::format("--homes is malformed: give {} ranks below {}, one for each agent",
                         options.shape.agents(), options.shape.ranks);
    }
  }
  if (texts.nodes != 0) options.shape.nodes = texts.nodes;
  if (!texts.topology.empty()) options.shape.topology = texts.topology;
  if (const auto topology = topology_of(options.shape); !topology.ok()) {
    return std::string(topology.status().message());
  }
  if (texts.timed) options.shape.manner = Manner::kTimed;
  if (texts.tried) options.shape.manner = Manner::kTry;
  if (texts.timed || texts.tried) options.shape.manners.clear();
  for (const std::string& text : texts.manners) {
    if (&text == &texts.manners.front()) options.shape.manners.clear();
    options.shape.manners.push_back(text == "timed" ? Manner::kTimed
                                    : text == "try" ? Manner::kTry
                                                    : Manner::kWait);
  }
  if (!options.shape.manners.empty() && options.shape.manners.size() != options.shape.agents()) {
    return fmt::format("--manners is malformed: give {} of wait, timed and try, one per agent",
                       options.shape.agents());
  }
  options.how = options.explore == "exhaustive"    ? How::kExhaustive
                : options.explore == "preemptions" ? How::kPreemptions
                : options.explore == "random"      ? How::kRandom
                                                   : How::kPct;
  if (!options.json.empty()) {
    const Status writable = program::check_writable(options.json);
    if (!writable.ok()) return std::string(writable.message());
  }
  return {};
}

int usage(const std::string& sentence) {
  fmt::print(stderr, "lockcheck: {}\n", sentence);
  return kExitUsage;
}

}  // namespace

std::string Options::program_flags() const {
  std::string text = mutant != nullptr ? "--mutant " + mutant->name : "--lock " + lock;
  if (real) text += " --real";
  text += flags_of(shape);
  if (explorer.split_rma) text += " --split-rma";
  if (explorer.store_buffers) text += " --store-buffers";
  if (explorer.double_stores) text += " --double-stores";
  if (!explorer.reduce) text += " --no-reduction";
  return text;
}

std::string Options::order_flags() const {
  if (!replay.empty()) return fmt::format("--replay '{}'", replay);
  switch (how) {
    case How::kExhaustive: return fmt::format("--explore exhaustive --states {}", most_states);
    case How::kPreemptions:
      return fmt::format("--explore preemptions --bound {} --states {}", bound, most_states);
    case How::kRandom:
      return fmt::format("--explore random --seed {} --executions {} --steps {}", seed, executions,
                         explorer.most_steps);
    case How::kPct:
      return fmt::format("--explore pct --depth {} --seed {} --executions {} --steps {}", depth,
                         seed, executions, explorer.most_steps);
  }
  return {};
}

Parsed parse(int argc, char** argv) {
  Options options;
  Texts texts;
  CLI::App app("Explores the orders in which agents can use a lock, on the simulated machine.");
  app.set_version_flag("--version", program::version_line("lockcheck"));
  app.footer(fmt::format(fmt::runtime(kFooter), fmt::join(locks::AnyLock::kNames, ", ")));
  declare(app, options, texts);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    return {{}, app.exit(done)};
  } catch (const CLI::ParseError& error) {
    return {{}, usage(error.what())};
  }
  if (const std::string wrong = finish_parsing(options, texts); !wrong.empty())
    return {{}, usage(wrong)};
  if (!options.lock.empty()) {
    auto lock = locks::AnyLock::make(options.lock);
    if (!lock.ok()) return {{}, usage(std::string(lock.status().message()))};
    if (options.shape.alls != 0 && !takes_all(options.lock)) {
      return {{},
              usage(fmt::format("lock {} has no LOCKALL: leave out the agents with an 'a'",
                                options.lock))};
    }
  }
  for (int i = 0; i < argc; ++i) options.command_line += (i == 0 ? "" : " ") + std::string(argv[i]);
  return {options, 0};
}

}  // namespace keyway::lockcheck
