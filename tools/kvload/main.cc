// kvload: puts a workload on a key-value store and reports throughput and latency.
#include <fmt/format.h>
#include <signal.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "job.h"
#include "options.h"
#include "output.h"
#include "stores/registry.h"

namespace keyway::kvload {
namespace {

/// Whether this process speaks for its job: under a launcher, only rank 0. Asked before MPI is
/// initialised, because a bad command line must not need it.
bool speaks_for_job() {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"}) {
    if (const char* rank = std::getenv(name)) return std::string_view(rank) == "0";
  }
  return true;
}

const StoreKind* find_store(std::string_view uri) {
  const std::size_t colon = uri.find(':');
  for (const StoreKind& kind : store_kinds()) {
    if (colon != std::string_view::npos && uri.substr(0, colon) == kind.scheme) return &kind;
  }
  return nullptr;
}

Status unknown_store(std::string_view uri) {
  std::string forms;
  for (const StoreKind& kind : store_kinds()) {
    forms += forms.empty() ? "" : ", ";
    forms += kind.form;
  }
  return Status(Code::kInvalidArgument,
                fmt::format("--store {} names no store: give one of {}", uri, forms));
}

int run(Options options, bool show) {
  Job failed;
  failed.show = show;
  auto job = make_job(std::move(options));
  if (!job) return report_failure(failed, job.status());
  job->show = show;
  const StoreKind* kind = find_store(job->options.store);
  if (kind == nullptr) return report_failure(*job, unknown_store(job->options.store));
  return kind->run(*job);
}

/// A launcher ends the whole job as soon as one process fails, so who fails in silence lets rank 0
/// speak first: until the launcher's signal comes, a second at most.
void let_rank_0_speak() {
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  sigprocmask(SIG_BLOCK, &end, nullptr);
  const timespec longest{.tv_sec = 1, .tv_nsec = 0};
  sigtimedwait(&end, nullptr, &longest);
}

int main_of(int argc, char** argv, bool show) {
  Parsed parsed = parse_command_line(argc, argv);
  if (parsed.options) return run(std::move(*parsed.options), show);
  if (show) {
    std::fputs(parsed.out.c_str(), stdout);
    if (!parsed.error.empty()) std::fprintf(stderr, "kvload: %s\n", parsed.error.c_str());
  }
  return parsed.exit_code;
}

}  // namespace
}  // namespace keyway::kvload

int main(int argc, char** argv) {
  try {
    const bool show = keyway::kvload::speaks_for_job();
    const int code = keyway::kvload::main_of(argc, argv, show);
    if (!show && code != 0) keyway::kvload::let_rank_0_speak();
    return code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kvload: %s: the machine ran out of something; try a smaller workload\n",
                 error.what());
    return keyway::kvload::kExitUnavailable;
  }
}
