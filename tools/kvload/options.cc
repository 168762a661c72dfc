#include "options.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "keyway/client/program/provenance.h"
#include "keyway/locks/base/status.h"
#include "keyway/workloads/spec.h"
#include "keyway/workloads/ycsb_files.h"
#include "stores/registry.h"

namespace keyway::kvload {
namespace {

/// The options as CLI11 fills them in, before they become properties.
struct Raw {
  std::string command;
  std::vector<std::string> files;
  std::vector<std::string> pairs;
  std::string workload;
  std::string latency = "all";
  std::string memory;
  std::optional<std::uint64_t> threads;
  std::optional<double> target;
  std::optional<std::uint64_t> key_bytes;
  std::optional<std::uint64_t> value_bytes;
  bool status = false;
  bool list_properties = false;
};

/// YCSB's long options have one dash, which to everyone else means a bundle of letters.
std::vector<std::string> with_two_dashes(int argc, const char* const* argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool ycsb = word == "-threads" || word == "-target";
    words.push_back(ycsb ? "-" + word : word);
  }
  return words;
}

std::string footer() {
  std::string text = "Stores:\n";
  for (const StoreKind& kind : store_kinds()) {
    fmt::format_to(std::back_inserter(text), "  {:<15} {}\n", kind.form, kind.help);
  }
  text +=
      "\nOn a store that lives in the process, run loads the records first and reports both.\n"
      "Use kvload load for a server; each thread has its own connection, and --batch N requests\n"
      "N records in one pipeline. KVLOAD_PASSWORD may hold the password instead of the URI.\n"
      "Ctrl-C (SIGINT, SIGTERM) ends the job with a report of the work so far; a second one\n"
      "ends it at once.\n"
      "Exit codes: 0 success, 1 operations failed, 2 bad usage or configuration, 3 the store\n"
      "cannot be reached, 4 every operation failed for --give-up-after, 130 interrupted.\n"
      "\nExample: workload b on 100000 records, two threads, one million operations:\n"
      "  kvload run --workload b -p recordcount=100000 -p operationcount=1000000 --threads 2\n";
  return text;
}

void add_workload_options(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("command", raw.command, "load: insert the records; run: operate on them")
      ->check(CLI::IsMember({"load", "run"}));
  app.add_option("-P", raw.files, "properties file, as YCSB's; later ones win")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("FILE");
  app.add_option("-p", raw.pairs, "one property, e.g. -p recordcount=1000; wins over files")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  app.add_option("--workload", raw.workload,
                 "YCSB's workload with this letter; -P files override it")
      ->check(CLI::IsMember({"a", "b", "c", "d", "e", "f"}));
  app.add_option("--fw", options.write_percents,
                 "run once for each share of writes, in %: updates against reads, e.g. 0,2,5,100")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--locality", options.locality,
                 "share of operations, 0 to 1, on keys that the rank owns (mpi:)")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--key-bytes", raw.key_bytes, "keys of exactly this length (keybytes)");
  app.add_option("--value-bytes", raw.value_bytes,
                 "one field of this length (fieldcount=1, fieldlength)");
  app.add_flag("--properties", raw.list_properties, "list all properties with their defaults");
}

void add_run_options(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--store", options.store, "URI of the store, see below")->capture_default_str();
  app.add_option("--threads", raw.threads, "threads of each rank (threadcount; default 1)");
  app.add_option("--load-threads", options.load_threads,
                 "threads of each rank for the load before a run (default: --threads)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--target", raw.target,
                 "operations per s of the whole job (target; default 0: no limit)");
  app.add_flag("--warm-up", options.warms_up,
               "before the first run, each rank reads every record once, 64 at a time, for a store "
               "that learns where its records are, or caches them");
  app.add_option("--batch", options.batch, "keys per read")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--latency", raw.latency,
                 "all, off, or sample=N: measure the latency of every N-th operation")
      ->capture_default_str();
  app.add_option("--memory", raw.memory,
                 "memory of the store on each rank, e.g. 512MiB (default: from the workload)");
  app.add_option(
         "--lock-policy", options.lock_policy,
         "locks of local: and mpi: stores: auto, or KIND[:LEVER=VALUE,...]; the report then "
         "ends with the locks of the stripes")
      ->type_name("auto|KIND");
  app.add_option("--path", options.path,
                 "way of edits to keys on other nodes, mpi: only: onesided, or by the owner, which "
                 "costs one message each way; auto: by the owner where MPI serves messages at once")
      ->check(CLI::IsMember({"auto", "onesided", "owner"}));
  app.add_option("--pregenerate", options.pregenerate_mib,
                 "MiB of operations generated before the clock starts")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "the same seed gives the same operations")
      ->capture_default_str();
  app.add_option("--give-up-after", options.give_up_after_s,
                 "stop with exit code 4 after this many s in which every operation failed; a "
                 "missing or wrong record does not count as a failure here (0: never stop)")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--json", options.json, "write the results as JSON")->type_name("FILE");
  app.add_option("--csv", options.csv, "write the results as CSV, latencies in ns")
      ->type_name("FILE");
  app.add_option("--summary", options.summary,
                 "append to a table: throughput, p50 and p99 of each phase, with units")
      ->type_name("FILE");
  app.add_flag("-s", raw.status, "print a status line on stderr every status.interval seconds");
}

Status invalid_argument(std::string sentence) {
  return Status(Code::kInvalidArgument, std::move(sentence));
}

Status read_latency(const std::string& text, Options& options) {
  constexpr std::string_view kSample = "sample=";
  if (text == "all") {
    options.sample_every = 1;
  } else if (text == "off") {
    options.sample_every = 0;
  } else if (!text.starts_with(kSample) ||
             !CLI::detail::lexical_cast(text.substr(kSample.size()), options.sample_every) ||
             options.sample_every == 0) {
    return invalid_argument(
        fmt::format("--latency {} is not known: give all, off or sample=N with N at "
                    "least 1",
                    text));
  }
  return {};
}

Status read_memory(const std::string& text, Options& options) {
  if (text.empty()) return {};
  const auto bytes = program::parse_size("--memory", text);
  if (!bytes.ok()) return bytes.status();
  options.memory_bytes = *bytes;
  return {};
}

Status read_properties(const Raw& raw, Options& options) {
  workloads::Properties& properties = options.properties;
  if (!raw.workload.empty()) {
    auto built_in = workloads::Properties::parse(workloads::ycsb_workload(raw.workload[0]),
                                                 "workload" + raw.workload);
    if (!built_in) return built_in.status();
    properties.merge(*built_in);
  }
  for (const std::string& path : raw.files) {
    auto file = workloads::Properties::read_file(path);
    if (!file) return file.status();
    properties.merge(*file);
  }
  for (const std::string& pair : raw.pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return invalid_argument(fmt::format("-p {} is not a property: write -p NAME=VALUE", pair));
    }
    properties.set(pair.substr(0, equals), pair.substr(equals + 1), "-p");
  }
  const auto set = [&properties](std::string_view name, const auto& value,
                                 std::string_view option) {
    if (value) properties.set(name, fmt::format("{}", *value), option);
  };
  set("threadcount", raw.threads, "--threads");
  set("target", raw.target, "--target");
  set("keybytes", raw.key_bytes, "--key-bytes");
  set("fieldlength", raw.value_bytes, "--value-bytes");
  if (raw.value_bytes) properties.set("fieldcount", "1", "--value-bytes");
  if (raw.status) properties.set("status", "true", "-s");
  return {};
}

std::string property_list() {
  std::string out;
  for (const auto& [name, value, help] : workloads::known_properties()) {
    fmt::format_to(std::back_inserter(out), "{}={}\n    {}\n", name, value, help);
  }
  return out;
}

Status finish(const Raw& raw, Options& options) {
  if (raw.command.empty())
    return invalid_argument("say load or run: kvload --help shows an example");
  options.command = raw.command == "load" ? Command::kLoad : Command::kRun;
  for (const Status& status : {read_latency(raw.latency, options), read_memory(raw.memory, options),
                               read_properties(raw, options)}) {
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv) {
  CLI::App app(
      "Runs a workload on a key-value store and reports throughput and latency, as YCSB does.",
      "kvload");
  Raw raw;
  Options options;
  add_workload_options(app, raw, options);
  add_run_options(app, raw, options);
  app.set_version_flag("--version", program::version_line("kvload"));
  app.footer(footer());
  app.get_formatter()->column_width(28);

  std::vector<std::string> words = with_two_dashes(argc, argv);
  options.command_line = words;
  std::reverse(words.begin(), words.end());  // CLI11 takes words from the back
  if (auto ending = program::ending_of(app, [&] { app.parse(words); })) return *ending;
  if (raw.list_properties) return {{}, kExitOk, property_list(), {}};
  if (const Status status = finish(raw, options); !status.ok()) {
    return {{}, kExitUsage, {}, std::string(status.message())};
  }
  return {std::move(options), kExitOk, {}, {}};
}

}  // namespace keyway::kvload
