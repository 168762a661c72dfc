#include "output.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/client/program/output_file.h"
#include "keyway/client/program/provenance.h"
#include "keyway/client/wire/uri.h"
#include "keyway/locks/base/clock.h"
#include "keyway/workloads/summary.h"

namespace keyway::kvload {
namespace {

using nlohmann::ordered_json;

/// The words of the command line, without passwords.
std::vector<std::string> shown(std::vector<std::string> words) {
  for (std::string& word : words) {
    const bool names_server = word.find("redis://") != std::string::npos ||
                              word.find("rediss://") != std::string::npos ||
                              word.find("unix:") != std::string::npos;
    if (names_server) word = wire::without_password(word);
  }
  return words;
}

ordered_json configuration_json(const Job& job, std::uint32_t ranks) {
  ordered_json properties = ordered_json::object();
  for (const auto& [name, entry] : job.options.properties.entries()) {
    properties[name] = entry.value;
  }
  ordered_json out = {{"command", job.options.command == Command::kLoad ? "load" : "run"},
                      {"store", wire::without_password(job.options.store)},
                      {"ranks", ranks},
                      {"threads", job.spec.threads},
                      {"batch", job.options.batch},
                      {"latency_sample_every", job.options.sample_every},
                      {"seed", job.options.seed},
                      {"properties", properties},
                      {"command_line", shown(job.options.command_line)}};
  if (job.options.locality) out["locality"] = *job.options.locality;
  return out;
}

ordered_json latency_json(const Histogram& latency, const workloads::Spec& spec) {
  ordered_json percentiles = ordered_json::object();
  for (const double percent : spec.percentiles) {
    percentiles[fmt::format("{}", percent)] = latency.percentile(percent);
  }
  return {{"average_ns", latency.mean()},     {"min_ns", latency.min()},
          {"max_ns", latency.max()},          {"p50_ns", latency.percentile(50)},
          {"p99_ns", latency.percentile(99)}, {"percentiles_ns", percentiles}};
}

std::string_view end_name(PhaseEnd end) {
  switch (end) {
    case PhaseEnd::kCompleted: return "completed";
    case PhaseEnd::kGaveUp: return "gave up";
    case PhaseEnd::kInterrupted: return "interrupted";
  }
  return "";
}

ordered_json phase_json(const PhaseOutcome& outcome, const workloads::Spec& spec) {
  const workloads::PhaseResult& result = outcome.result;
  ordered_json metrics = ordered_json::object();
  for (const workloads::ReportLine& line : workloads::report_lines(result, spec.interval)) {
    ordered_json metric = {{"operations", line.operations}};
    if (line.latency != nullptr) metric["latency"] = latency_json(*line.latency, spec);
    if (line.returns_of != nullptr) {
      for (std::size_t i = 0; i < workloads::kReturns; ++i) {
        const auto value = static_cast<workloads::Return>(i);
        const std::uint64_t n = line.returns_of->count(value);
        if (n != 0) metric["returns"][std::string(workloads::return_name(value))] = n;
      }
    }
    metrics[line.name] = metric;
  }
  ordered_json out = {{"phase", result.name}};
  if (result.write_percent) out["write_percent"] = *result.write_percent;
  out["threads"] = spec.threads;
  out["runtime_ms"] = static_cast<double>(result.runtime_ns) / 1e6;
  out["end"] = end_name(outcome.end);
  out["operations"] = result.operations;
  out["failed_operations"] = result.failed;
  out["failures"] = result.measured.failures();
  out["throughput_per_s"] = result.throughput_per_s();
  out["metrics"] = metrics;
  if (const auto& reads = outcome.remote.reads; reads.all() != 0) {
    out["remote_reads"] = {{"warm", reads.warm},
                           {"cold", reads.cold},
                           {"locked", reads.refused},
                           {"by_owner", reads.by_owners},
                           {"repeated", reads.repeated}};
  }
  if (outcome.remote.edits_by_owners != 0) out["edits_by_owners"] = outcome.remote.edits_by_owners;
  if (outcome.remote.messages != 0) {
    out["remote_messages"] = outcome.remote.messages;
    out["remote_round_trips"] = outcome.remote.round_trips;
  }
  if (outcome.remote.loopbacks != 0) out["fabric_loopbacks"] = outcome.remote.loopbacks;
  if (outcome.remote.flushes != 0) out["fabric_flushes"] = outcome.remote.flushes;
  return out;
}

}  // namespace

int report_failure(const Job& job, const Status& status) {
  if (job.show) {
    std::fprintf(stderr, "kvload: %s\n", std::string(status.message()).c_str());
  }
  return status == Code::kInvalidArgument ? kExitUsage : kExitUnavailable;
}

Status check_files(const Job& job) {
  for (const std::string& path :
       {job.options.json, job.options.csv, job.options.summary, job.spec.export_file}) {
    if (path.empty()) continue;
    if (const Status status = program::check_writable(path); !status.ok()) return status;
  }
  return {};
}

Output::Output(const Job& job, std::string_view way, std::uint32_t ranks)
    : job_(job), way_(way), ranks_(ranks) {
  warnings_ = job.notes;
  if (!job.show) return;
  for (const std::string& note : job.notes)
    std::fprintf(stderr, "kvload: note: %s\n", note.c_str());
  if (!job.spec.export_file.empty()) export_file_.open(job.spec.export_file, std::ios::trunc);
}

void Output::print(const std::string& text) {
  if (export_file_.is_open()) {
    export_file_ << text << std::flush;
  } else {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
}

void Output::warn(const std::string& sentence) {
  std::fprintf(stderr, "kvload: %s\n", sentence.c_str());
  warnings_.push_back(sentence);
}

void Output::warn_of(const Phase& phase, const PhaseOutcome& outcome) {
  if (!outcome.error.empty()) warn(fmt::format("{}: {}", phase.title(), outcome.error));
  if (outcome.interrupted()) {
    warn(fmt::format("{}: interrupted after {:.1f} s; the report covers the work so far",
                     phase.title(), static_cast<double>(outcome.result.runtime_ns) / 1e9));
  }
  if (outcome.gave_up()) {
    warn(fmt::format("{}: gave up, because every operation failed for {} s (--give-up-after)",
                     phase.title(), job_.options.give_up_after_s));
  }
  if (const std::uint64_t failures = outcome.failures(); failures != 0) {
    warn(fmt::format("{}: {} operations failed{}: see the Return= lines of the report for all",
                     phase.title(), failures,
                     outcome.trouble.empty() ? "" : ", first with \"" + outcome.trouble + "\""));
  }
}

void Output::add(const Phase& phase, PhaseOutcome outcome) {
  failed_ = failed_ || outcome.failed();
  if (job_.show) {
    if (job_.phases.size() > 1) {
      print(fmt::format("{}# {}\n", outcomes_.empty() ? "" : "\n", phase.title()));
    }
    print(workloads::text_report(outcome.result, phase.spec));
    if (const auto& reads = outcome.remote.reads; reads.all() != 0) {
      print(
          fmt::format("[REMOTE-READ], Warm, {}\n[REMOTE-READ], Cold, {}\n"
                      "[REMOTE-READ], Locked, {}\n[REMOTE-READ], ByOwner, {}\n"
                      "[REMOTE-READ], Repeated, {}\n",
                      reads.warm, reads.cold, reads.refused, reads.by_owners, reads.repeated));
    }
    if (outcome.remote.edits_by_owners != 0) {
      print(fmt::format("[REMOTE-EDIT], ByOwner, {}\n", outcome.remote.edits_by_owners));
    }
    const store::RemoteWork& remote = outcome.remote;
    if (remote.messages + remote.loopbacks != 0 && outcome.result.operations != 0) {
      const auto per_operation = [&](std::uint64_t count) {
        return static_cast<double>(count) / static_cast<double>(outcome.result.operations);
      };
      print(
          fmt::format("[NETWORK], MessagesPerOperation, {:.2f}\n"
                      "[NETWORK], RoundTripsPerOperation, {:.2f}\n"
                      "[NETWORK], FlushesPerOperation, {:.2f}\n"
                      "[NETWORK], LoopbacksPerOperation, {:.2f}\n",
                      per_operation(remote.messages), per_operation(remote.round_trips),
                      per_operation(remote.flushes), per_operation(remote.loopbacks)));
    }
    warn_of(phase, outcome);
  }
  outcomes_.push_back(std::move(outcome));
}

void Output::fail(const std::string& sentence) {
  failed_ = true;
  if (job_.show) warn(sentence);
}

void Output::note_locks(const std::string& lines) {
  if (!job_.show || lines.empty()) return;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    const std::string line = lines.substr(at, end - at);
    at = end + 1;
    if (line.starts_with('{')) {
      stripes_.push_back(ordered_json::parse(line));
    } else {
      print(line + "\n");
      locks_.push_back(line);
    }
  }
}

int Output::finish() {
  if (!job_.show) return kExitOk;  // rank 0 speaks for all
  for (const Status& status : {write_json(), write_csv(), append_summary()}) {
    if (!status.ok()) return report_failure(job_, status);
  }
  PhaseEnd end = PhaseEnd::kCompleted;
  for (const PhaseOutcome& outcome : outcomes_) end = std::max(end, outcome.end);
  if (end == PhaseEnd::kInterrupted) return kExitInterrupted;
  if (end == PhaseEnd::kGaveUp) return kExitGaveUp;
  return failed_ ? kExitFailedOperations : kExitOk;
}

Status Output::write_json() const {
  if (job_.options.json.empty()) return {};
  ordered_json phases = ordered_json::array();
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    phases.push_back(phase_json(outcomes_[i], job_.phases[i].spec));
  }
  const ordered_json out = {{"program", "kvload"},
                            {"version", program::version()},
                            {"revision", program::revision()},
                            {"compiler", program::compiler()},
                            {"time_ms", wall_ms()},
                            {"machine", program::host_json()},
                            {"configuration", configuration_json(job_, ranks_)},
                            {"seed", job_.options.seed},
                            {"phases", phases},
                            {"locks", locks_},
                            {"stripes", stripes_},
                            {"warnings", warnings_}};
  return program::write_file(job_.options.json, out.dump(2) + "\n");
}

Status Output::write_csv() const {
  if (job_.options.csv.empty()) return {};
  std::string text = workloads::csv_header(job_.spec);
  for (const PhaseOutcome& outcome : outcomes_) {
    text += workloads::csv_rows(outcome.result, job_.spec);
  }
  return program::write_file(job_.options.csv, text);
}

Status Output::append_summary() const {
  if (job_.options.summary.empty()) return {};
  std::string text;
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    text += workloads::summary_rows(way_, outcomes_[i].result, job_.phases[i].spec.interval);
  }
  return program::append_to_table(job_.options.summary, workloads::summary_header(), text);
}

}  // namespace keyway::kvload
