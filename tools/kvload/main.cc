// kvload: puts a workload on a key-value store and reports throughput and latency.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "job.h"
#include "keyway/client/client.h"
#include "keyway/client/program/primary_rank.h"
#include "options.h"
#include "output.h"
#include "stores/registry.h"

namespace keyway::kvload {
namespace {

Status unknown_store(std::string_view uri) {
  std::string forms;
  for (const StoreKind& kind : store_kinds()) {
    forms += forms.empty() ? "" : ", ";
    forms += kind.form;
  }
  return Status(Code::kInvalidArgument,
                fmt::format("--store {} is not a store: give one of {}", uri, forms));
}

/// Reports a failure of this process. In a job it may be the failure of one rank only, and the
/// others wait for it in MPI, so it joins them to report it.
Status decline(bool of_job, Status why) {
  return of_job && program::under_launcher() ? Store::decline("mpi:", std::move(why)) : why;
}

bool is_of_job(std::string_view uri) {
  const auto kind = find_store(uri);
  return kind && kind->of_job;
}

/// Whether an unusable command line was meant for a job, judged by its words.
bool names_job(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](std::string_view word) {
    if (word.starts_with("--store=")) word.remove_prefix(word.find('=') + 1);
    return is_of_job(word);
  });
}

int run(Options options, bool show) {
  Job failed;
  failed.show = show;
  const bool of_job = is_of_job(options.store);
  auto job = make_job(std::move(options));
  if (!job) return report_failure(failed, decline(of_job, job.status()));
  job->show = show;
  const auto kind = find_store(job->options.store);
  if (!kind) return report_failure(*job, unknown_store(job->options.store));
  return kind->run(*job);
}

int main_of(int argc, char** argv, bool show) {
  Parsed parsed = parse_command_line(argc, argv);
  if (parsed.options) return run(std::move(*parsed.options), show);
  std::string error = parsed.error;
  if (parsed.exit_code != kExitOk) {
    error = decline(names_job(argc, argv), Status(Code::kInvalidArgument, error)).message();
  }
  if (show) {
    std::fputs(parsed.out.c_str(), stdout);
    if (!error.empty()) std::fprintf(stderr, "kvload: %s\n", error.c_str());
  }
  return parsed.exit_code;
}

}  // namespace
}  // namespace keyway::kvload

int main(int argc, char** argv) {
  try {
    const bool show = keyway::program::is_primary_rank();
    const int code = keyway::kvload::main_of(argc, argv, show);
    if (!show && code != 0) keyway::program::let_rank_0_speak();
    return code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kvload: out of memory or another resource (%s); try a smaller workload\n",
                 error.what());
    return keyway::kvload::kExitUnavailable;
  }
}
