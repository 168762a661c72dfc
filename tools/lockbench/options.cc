#include "options.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "benches/all.h"
#include "invalid_argument.h"
#include "keyway/client/program/provenance.h"
#include "keyway/locks/distributed/any_lock.h"
#include "keyway/workloads/machine_files.h"
#include "plan.h"
#include "spec.h"

namespace keyway::lockbench {
namespace {

std::string footer() {
  return fmt::format(
      "Benches (--acquires of each agent, the first 10% discarded):\n{}"
      "\nLocks: {}, each with its levers, e.g. gbh:backoff_max_ns=20000;\n"
      "  for dht also fompi-a: no lock, inserts by compare-and-swap\n"
      "Fabrics: shm (agents are threads), mpi (start it with mpirun.mpich), sim (virtual time)\n"
      "Machines for sim: {}, or the path of a machine file\n"
      "Sweeps: P (ranks), F_W (fw), any option by its name (lock, bench, locality, threads, seed\n"
      "  ...), lock.LEVER, or a parameter of the machine (card.atomic_ns). Values are separated\n"
      "  by commas, or by semicolons if they contain commas; 8,16,32,...,1024 continues the\n"
      "  sequence.\n"
      "\nEvery run ends in a check of mutual exclusion by what the lock guards.\n"
      "Exit codes: 0 all well, 1 a check failed, 2 bad usage, 3 the fabric is unavailable.\n"
      "\nExamples:\n"
      "  lockbench --lock d-mcs --bench ecsb --fabric sim --machine piz-daint --ranks 1024\n"
      "  lockbench --lock d-mcs --fabric sim --sweep bench=lb,ecsb,sob,wcsb,warb \\\n"
      "            --sweep lock=fompi-spin,d-mcs --sweep P=8,16,32,...,1024 --csv figure3.csv\n"
      "  mpirun.mpich -n 2 lockbench --lock gbh --bench warb --fabric mpi --fw 0.02\n"
      "  lockbench --calibrate host.toml\n"
      "  lockbench --lock gbh --fabric sim --machine host.toml --ranks 2\n",
      bench_help(), fmt::join(locks::AnyLock::kNames, ", "),
      fmt::join(workloads::machine_names(), ", "));
}

void add_lock_options(CLI::App& app, RunOptions& run) {
  app.add_option("--lock", run.lock, "the lock kind, with its levers")->type_name("KIND");
  app.add_option("--bench", run.bench, "the benchmark, see below")
      ->check(CLI::IsMember(bench_names()))
      ->capture_default_str();
  app.add_option("--fw", run.fw, "F_W, 0 to 1: share of acquires that are exclusive")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--roles", run.roles,
                 "unit of --fw: operation (each acquire draws its mode), or process (an agent\n"
                 "always reads or always writes; writers are spread evenly)")
      ->check(CLI::IsMember({"operation", "process"}))
      ->capture_default_str();
  app.add_option("--locks", run.locks, "locks in the table (default: 1; bench table: 100)")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--locality", run.locality,
                 "share, 0 to 1, of acquires of locks on the agent's own node (default: uniform)")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--draws", run.draws,
                 "own: each agent draws its locks for itself; published: all\n"
                 "agents draw the same numbers, as in SPAA'24's published benchmark (lock_draw.h)")
      ->check(CLI::IsMember({"own", "published"}))
      ->capture_default_str();
  app.add_option("--home", run.home, "rank of the first lock")->capture_default_str();
  app.add_option("--stride", run.stride,
                 "ranks from one lock to the next; the number of ranks per node spreads even few\n"
                 "locks over all nodes")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
}

void add_size_options(CLI::App& app, RunOptions& run) {
  app.add_option("--ranks", run.ranks,
                 "P, ranks (default: shm the cores, sim 16, mpi those of the job)")
      ->check(CLI::Range(1, 65535));
  app.add_option("--threads", run.threads, "agents of each rank")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--acquires", run.acquires,
                 fmt::format("acquires of each agent, warm-up included (default: {}; sim {})",
                             kAcquiresOnRealFabrics, kAcquiresInSimulation))
      ->check(CLI::Range(std::uint64_t{2}, std::uint64_t{1} << 40));
  app.add_option("--seconds", run.seconds,
                 "measure for this many s of the fabric's clock, instead of --acquires")
      ->check(CLI::Range(1e-6, 1e6));
  app.add_option("--warmup", run.warmup, "share of --acquires that is discarded; at least one")
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str();
  app.add_option("--work-min-ns", run.work_min_ns, "wcsb, warb: shortest work, in ns")
      ->capture_default_str();
  app.add_option("--work-max-ns", run.work_max_ns, "wcsb, warb: longest work, in ns")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--seed", run.seed, "seed of modes, locks and work; sim: seed of the whole run")
      ->capture_default_str();
}

void add_fabric_options(CLI::App& app, RunOptions& run) {
  app.add_option("--fabric", run.fabric, "shm, mpi or sim")
      ->check(CLI::IsMember({"shm", "mpi", "sim"}))
      ->capture_default_str();
  app.add_option("--machine", run.machine, "sim: machine file by name or path")
      ->type_name("FILE-OR-NAME")
      ->capture_default_str();
  app.add_option("--set", run.settings, "sim: one parameter of the machine, e.g. card.atomic_ns=50")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("DOTTED=VALUE");
  app.add_option("--topology", run.topology,
                 "override the fabric's topology, e.g. nodes=4 or racks=2,nodes=4");
  app.add_flag("--force-rma", run.force_rma, "mpi: send the rma class through MPI on one node too");
  app.add_option(
      "--ranks-per-node", run.ranks_per_node,
      "mpi: share memory among this many consecutive ranks only (default: as discovered)");
}

void add_report_options(CLI::App& app, Options& options) {
  RunOptions& run = options.run;
  app.add_flag("--counts", run.counts, "count operations by class and level of the topology");
  app.add_option("--sample", run.sample, "measure the latency of each n-th acquire (0 disables)")
      ->capture_default_str();
  app.add_option("--check", run.check,
                 "acquires that also work on the guarded data: those of the warm-up, or all")
      ->check(CLI::IsMember({"warm-up", "every"}))
      ->capture_default_str();
  app.add_option("--sweep", options.sweeps, "run once per value; several sweeps make a grid")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("NAME=VALUES");
  app.add_option("--jobs", options.jobs, "sim: points of a sweep at once (default: cores)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--json", options.json, "write results and configuration as JSON; - is stdout")
      ->type_name("FILE");
  app.add_option("--csv", options.csv, "write one line per run; - is stdout")->type_name("FILE");
  app.add_option("--calibrate", options.calibrate,
                 "measure this host, write a file for --machine, and exit; - is stdout")
      ->type_name("FILE");
}

Status check(const Options& options) {
  if (!options.calibrate.empty()) return {};
  const RunOptions& run = options.run;
  const bool swept = std::any_of(options.sweeps.begin(), options.sweeps.end(),
                                 [](const std::string& s) { return s.starts_with("lock="); });
  if (run.lock.empty() && !swept) {
    return invalid_argument(fmt::format("no lock is given: use --lock with one of {}",
                                        fmt::join(locks::AnyLock::kNames, ", ")));
  }
  if (!run.lock.empty()) {
    if (auto lock = lock_of(run); !lock.ok()) return lock.status();
  }
  if (run.acquires != 0 && run.seconds != 0) {
    return invalid_argument("--acquires and --seconds exclude each other: omit one of them");
  }
  if (run.fabric != "sim" && !run.settings.empty()) {
    return invalid_argument("--set changes a simulated machine: add --fabric sim, or leave it out");
  }
  if (run.fabric != "mpi" && (run.force_rma || run.ranks_per_node != 0)) {
    return invalid_argument(
        "--force-rma and --ranks-per-node need the mpi fabric: add --fabric mpi");
  }
  return {};
}

void add_options(CLI::App& app, Options& options, std::string& spec) {
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option("--spec", spec, "TOML file of options by their long names; the command line wins")
      ->type_name("FILE");
  add_lock_options(app, options.run);
  add_fabric_options(app, options.run);
  add_size_options(app, options.run);
  add_report_options(app, options);
  app.set_version_flag("--version", program::version_line("lockbench"));
  app.footer(footer());
  app.get_formatter()->column_width(28);
}

constexpr std::string_view kAbout = "Measures locks on shared memory, MPI and simulated machines.";

}  // namespace

std::vector<std::string> option_names() {
  CLI::App app;
  Options options;
  std::string spec;
  add_options(app, options, spec);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const bool is_of_run =
          name != "help" && name != "version" && name != "spec" && name != "calibrate";
      if (is_of_run) names.push_back(name);
    }
  }
  return names;
}

Parsed parse_words(const std::vector<std::string>& words) {
  CLI::App app(std::string(kAbout), "lockbench");
  Options options;
  std::string spec;
  add_options(app, options, spec);
  options.words = words;
  std::vector<std::string> backwards(words.rbegin(), words.rend());  // as CLI11 takes them
  if (auto ending = program::ending_of(app, [&] { app.parse(backwards); })) return *ending;
  if (!spec.empty()) {
    const auto written = read_spec(spec);
    if (!written.ok()) return {{}, kExitUsage, {}, std::string(written.status().message())};
    std::vector<std::string> all = *written;
    std::copy_if(words.begin(), words.end(), std::back_inserter(all),
                 [&, after = false](const std::string& word) mutable {
                   const bool value = std::exchange(after, word == "--spec");
                   return !value && word != "--spec" && !word.starts_with("--spec=");
                 });
    return parse_words(all);
  }
  if (const Status status = check(options); !status.ok()) {
    return {{}, kExitUsage, {}, std::string(status.message())};
  }
  return {std::move(options), kExitOk, {}, {}};
}

Parsed parse_command_line(int argc, const char* const* argv) {
  return parse_words(std::vector<std::string>(argv + 1, argv + argc));
}

std::vector<std::string> words_of(const RunOptions& run) {
  const RunOptions standard;
  std::vector<std::string> words;
  const auto say = [&](std::string_view name, const auto& value, const auto& usual) {
    if (value != usual) words.push_back(fmt::format("--{}={}", name, value));
  };
  say("lock", run.lock, standard.lock);
  words.push_back("--bench=" + run.bench);
  words.push_back("--fabric=" + run.fabric);
  if (run.fabric == "sim") words.push_back("--machine=" + run.machine);
  for (const std::string& setting : run.settings) words.push_back("--set=" + setting);
  say("topology", run.topology, standard.topology);
  say("ranks", run.ranks, standard.ranks);
  say("threads", run.threads, standard.threads);
  say("locks", run.locks, standard.locks);
  say("home", run.home, standard.home);
  say("stride", run.stride, standard.stride);
  if (run.locality) words.push_back(fmt::format("--locality={}", *run.locality));
  say("draws", run.draws, standard.draws);
  say("fw", run.fw, standard.fw);
  say("roles", run.roles, standard.roles);
  say("acquires", run.acquires, standard.acquires);
  say("seconds", run.seconds, standard.seconds);
  say("warmup", run.warmup, standard.warmup);
  say("work-min-ns", run.work_min_ns, standard.work_min_ns);
  say("work-max-ns", run.work_max_ns, standard.work_max_ns);
  words.push_back(fmt::format("--seed={}", run.seed));
  say("sample", run.sample, standard.sample);
  if (run.counts) words.push_back("--counts");
  say("check", run.check, standard.check);
  if (run.force_rma) words.push_back("--force-rma");
  say("ranks-per-node", run.ranks_per_node, standard.ranks_per_node);
  return words;
}

}  // namespace keyway::lockbench
