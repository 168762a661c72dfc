// lockbench: measures locks on shared memory, MPI and simulated machines.
#include <cstdio>
#include <exception>
#include <string>

#include "keyway/client/program/output_file.h"
#include "keyway/client/program/primary_rank.h"
#include "keyway/tools/calibrate/calibrate.h"
#include "options.h"
#include "session.h"
#include "sweep.h"

namespace keyway::lockbench {
namespace {

int fail(const Status& status, bool show) {
  if (show) std::fprintf(stderr, "lockbench: %s\n", std::string(status.message()).c_str());
  return kExitUsage;
}

Status check_files(const Options& options) {
  if (options.json == "-" && options.csv == "-") {
    return Status(Code::kInvalidArgument,
                  "--json - and --csv - both want stdout: give one of them a file");
  }
  for (const std::string& path : {options.json, options.csv}) {
    if (path.empty() || path == "-") continue;
    if (const Status status = program::check_writable(path); !status.ok()) return status;
  }
  return {};
}

Status calibrate_to(const std::string& path) {
  if (path != "-") {
    if (Status status = program::check_writable(path); !status.ok()) return status;
  }
  const auto text = calibrate::calibrate({});
  if (!text.ok()) return text.status();
  if (path != "-") return program::write_file(path, *text);
  std::fputs(text->c_str(), stdout);
  return {};
}

int main_of(int argc, char** argv, bool show) {
  const Parsed parsed = parse_command_line(argc, argv);
  if (!parsed.options) {
    if (!show) return parsed.exit_code;
    std::fputs(parsed.out.c_str(), stdout);
    if (!parsed.error.empty()) std::fprintf(stderr, "lockbench: %s\n", parsed.error.c_str());
    return parsed.exit_code;
  }
  if (const std::string& path = parsed.options->calibrate; !path.empty()) {
    const Status status = show ? calibrate_to(path) : Status();
    return status.ok() ? kExitOk : fail(status, show);
  }
  auto points = expand_grid(*parsed.options);
  if (!points.ok()) return fail(points.status(), show);
  if (show) {
    if (const Status status = check_files(*parsed.options); !status.ok()) return fail(status, show);
  }
  return Session(*parsed.options, std::move(*points), show).run();
}

}  // namespace
}  // namespace keyway::lockbench

int main(int argc, char** argv) {
  try {
    const bool show = keyway::program::is_primary_rank();
    const int code = keyway::lockbench::main_of(argc, argv, show);
    if (!show && code != 0) keyway::program::let_rank_0_speak();
    return code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lockbench: out of memory or another resource (%s); try a smaller run\n",
                 error.what());
    return keyway::lockbench::kExitUnavailable;
  }
}
