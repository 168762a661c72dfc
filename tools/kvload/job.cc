#include "job.h"

#include <fmt/core.h>

#include <algorithm>

#include "keyway/workloads/record.h"

namespace keyway::kvload {
namespace {

using workloads::OpKind;

Status invalid_argument(std::string sentence) {
  return Status(Code::kInvalidArgument, std::move(sentence));
}

Phase load_phase(const Job& job) {
  Phase phase{Phase::Kind::kLoad, std::nullopt, job.spec};
  phase.spec.mix = {};
  phase.spec.mix[static_cast<std::size_t>(OpKind::kInsert)] = 1;
  if (job.options.command == Command::kRun) {  // rate and time limit are meant for the run
    phase.spec.target_per_s = 0;
    phase.spec.max_execution_s = 0;
    phase.spec.interval = workloads::Interval::kOp;
    phase.spec.threads = job.options.load_threads.value_or(phase.spec.threads);
  }
  return phase;
}

Phase warm_up_phase(const Job& job) {
  Phase phase{Phase::Kind::kWarmUp, std::nullopt, job.spec};
  phase.spec.mix = {};
  phase.spec.mix[static_cast<std::size_t>(OpKind::kRead)] = 1;
  phase.spec.target_per_s = 0;
  phase.spec.max_execution_s = 0;
  phase.spec.interval = workloads::Interval::kOp;
  phase.spec.read_all_fields = true;
  return phase;
}

std::vector<Phase> run_phases(const Job& job) {
  if (job.options.write_percents.empty()) {
    return {Phase{Phase::Kind::kRun, std::nullopt, job.spec}};
  }
  std::vector<Phase> phases;
  for (const double percent : job.options.write_percents) {
    Phase phase{Phase::Kind::kRun, percent, job.spec};
    phase.spec.mix = {};
    phase.spec.mix[static_cast<std::size_t>(OpKind::kRead)] = 1 - percent / 100;
    phase.spec.mix[static_cast<std::size_t>(OpKind::kUpdate)] = percent / 100;
    phases.push_back(std::move(phase));
  }
  return phases;
}

Status check_run(const Job& job) {
  const workloads::Spec& spec = job.spec;
  if (spec.operation_count == 0 && spec.max_execution_s == 0) {
    return invalid_argument(
        "a run needs an end: set operationcount, or maxexecutiontime in seconds");
  }
  if (job.options.batch > 1 && !spec.read_all_fields) {
    return invalid_argument(
        "--batch gets whole records: set readallfields=true or leave --batch out");
  }
  if (job.options.batch > 1 && spec.target_per_s > 0) {
    return invalid_argument(
        "--batch has no single start time to keep to a target: leave one of them out");
  }
  return {};
}

void note_store(Job& job, const StoreTraits& store, std::uint32_t owners) {
  const bool scans = job.spec.share(OpKind::kScan) > 0 && job.options.write_percents.empty();
  if (scans && !store.scans_in_key_order) {
    job.notes.push_back(
        fmt::format("{} scans in hash order from the start key, not in key order", store.name));
  }
  if (job.options.locality && owners == 1) {
    job.notes.emplace_back("--locality makes no difference on one rank, which owns every key");
  }
  if (job.options.batch > 1) {
    job.notes.push_back(
        fmt::format("reads are batches of {}: each read's latency is that of its whole batch",
                    job.options.batch));
  }
}

}  // namespace

std::string Phase::title() const {
  return write_percent ? fmt::format("run with {:g}% writes", *write_percent) : name();
}

Result<Job> make_job(Options options) {
  auto spec = workloads::read_spec(options.properties);
  if (!spec) return spec.status();
  if (spec->record_count == 0) {
    return invalid_argument("there are no records: set recordcount, e.g. -p recordcount=100000");
  }
  if (spec->insert_count == 0) {
    return invalid_argument("insertcount=0 leaves no records to load or read: omit it or raise it");
  }
  Job job;
  job.spec = std::move(*spec);
  job.options = std::move(options);
  job.notes = job.spec.notes;
  if (!job.options.write_percents.empty()) job.notes = {};  // a sweep sets the proportions itself
  if (job.options.sample_every == 0 && job.spec.target_per_s > 0) {
    job.notes.emplace_back("--latency off: the report has no latencies, only rates and counts");
  }
  return job;
}

Status plan_phases(Job& job, const StoreTraits& store, std::uint32_t owners) {
  const bool run = job.options.command == Command::kRun;
  if (run) {
    if (const Status status = check_run(job); !status.ok()) return status;
  }
  if (!run && job.options.warms_up) {
    return invalid_argument("--warm-up comes before a run: give it to kvload run");
  }
  const bool scans = job.spec.share(OpKind::kScan) > 0 && job.options.write_percents.empty();
  if (run && scans && !store.scan_refusal.empty())
    return invalid_argument(std::string(store.scan_refusal));
  job.phases.clear();
  if (!run || store.in_process) job.phases.push_back(load_phase(job));
  if (run) {
    if (job.options.warms_up) job.phases.push_back(warm_up_phase(job));
    for (Phase& phase : run_phases(job)) job.phases.push_back(std::move(phase));
    note_store(job, store, owners);
  }
  return {};
}

std::string fingerprint(const Job& job) {
  std::string text;
  for (const std::string& word : job.options.command_line) text += word + '\n';
  for (const auto& [name, entry] : job.options.properties.entries()) {
    text += name + '=' + entry.value + '\n';
  }
  return text;
}

double records_needed(const Job& job) {
  const workloads::Spec& spec = job.spec;
  const double inserts =
      job.options.write_percents.empty()
          ? spec.share(OpKind::kInsert) * static_cast<double>(spec.operation_count)
          : 0;
  return static_cast<double>(spec.insert_count) + inserts * 1.1;
}

std::uint64_t memory_needed(const Job& job, std::uint32_t ranks) {
  const workloads::Spec& spec = job.spec;
  const auto record_bytes = static_cast<double>(workloads::RecordLayout(spec).record_bytes());
  const double element_bytes = spec.keys.typical_bytes() + record_bytes + 64;
  constexpr double kSpare = 1.5;  // size classes, an uneven spread over ranks
  constexpr double kMin = 64.0 * 1024 * 1024;
  return static_cast<std::uint64_t>(kMin + kSpare * records_needed(job) * element_bytes / ranks);
}

}  // namespace keyway::kvload
