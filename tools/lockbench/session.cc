#include "session.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "arena.h"
#include "invalid_argument.h"
#include "keyway/client/program/output_file.h"
#include "pin.h"

namespace keyway::lockbench {

Session::Session(const Options& options, std::vector<Point> points, bool show)
    : options_(options),
      points_(std::move(points)),
      show_(show),
      to_stdout_(options.json != "-" && options.csv != "-") {}

Result<const Arena*> arena_of(std::string_view fabric) {
  std::string built;
  for (const Arena* arena : arenas()) {
    if (arena->fabric == fabric) return arena;
    built += fmt::format("{}{}", built.empty() ? "" : " or ", arena->fabric);
  }
  return invalid_argument(
      fmt::format("this lockbench was built without {}: use --fabric {}", fabric, built));
}

int Session::run() {
  const auto used = [this](const Arena& arena) {
    return std::ranges::count_if(
        points_, [&](const Point& point) { return point.run.fabric == arena.fabric; });
  };
  std::vector<std::shared_ptr<void>> kept;
  bool side_by_side = true;
  for (const Arena* arena : arenas()) {
    if (used(*arena) == 0) continue;
    side_by_side = side_by_side && arena->side_by_side;
    if (arena->hold == nullptr) continue;
    auto held = arena->hold();
    if (held.ok()) kept.push_back(std::move(*held));
    const MutexLock guard(mutex_);
    failure_ = held.status();
  }
  std::size_t jobs = 1;
  if (side_by_side) jobs = options_.jobs != 0 ? options_.jobs : usable_cores();
  jobs = std::min(jobs, points_.size());
  if (jobs == 1) {
    run_some();
  } else {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < jobs; ++i) threads.emplace_back([this] { run_some(); });
  }
  return end();
}

/// Writes the results, and says what failed: the exit code.
int Session::end() {
  const MutexLock guard(mutex_);
  if (show_ && failure_.ok()) failure_ = write_files();
  if (!failure_.ok()) {
    if (show_) {
      std::fprintf(stderr, "lockbench: %s\n", std::string(failure_.message()).c_str());
    }
    return failure_ == Code::kInvalidArgument ? kExitUsage : kExitUnavailable;
  }
  return check_failed_ ? kExitCheckFailed : kExitOk;
}

void Session::run_some() {
  while (true) {
    const std::size_t number = next_point();
    if (number >= points_.size()) return;
    finished(number, run_point(points_[number]));
  }
}

std::size_t Session::next_point() {
  const MutexLock guard(mutex_);
  return failure_.ok() ? next_++ : points_.size();
}

Result<std::optional<RunResult>> Session::run_point(const Point& point) const {
  const auto arena = arena_of(point.run.fabric);
  return arena.ok() ? (*arena)->run(point.run) : arena.status();
}

void Session::finished(std::size_t number, Result<std::optional<RunResult>> result) {
  const MutexLock guard(mutex_);
  if (!result.ok()) {
    // Points begin in order, so the first failure is the same whichever point ends first.
    if (!failure_.ok() && failed_at_ < number) return;
    failed_at_ = number;
    const std::string where = points_[number].values.empty() ? "" : points_[number].name() + ": ";
    failure_ =
        Status(result.status().code(), fmt::format("{}{}", where, result.status().message()));
    return;
  }
  waiting_.emplace(number, std::move(*result));
  while (!waiting_.empty() && waiting_.begin()->first == said_) {
    const auto& first = waiting_.begin()->second;
    if (first) say(points_[said_], *first);
    waiting_.erase(waiting_.begin());
    ++said_;
  }
  progress();
}

void Session::say(const Point& point, const RunResult& result) {
  check_failed_ = check_failed_ || !result.check.passed();
  if (!show_) return;
  if (to_stdout_) {
    const bool single = options_.sweeps.empty();
    std::fputs((single ? text_report(result) : text_line(point, result)).c_str(), stdout);
    std::fflush(stdout);
  }
  for (const std::string& warning : result.plan.warnings) {
    const std::string where = point.values.empty() ? "" : point.name() + ": ";
    std::fprintf(stderr, "lockbench: note: %s%s\n", where.c_str(), warning.c_str());
  }
  if (!result.check.passed()) {
    std::fprintf(stderr, "lockbench: the check failed: %s\n", result.check.failure.c_str());
  }
  if (!options_.json.empty()) json_.push_back(result_json(point, result));
  if (result.simulation) machines_[point.run.machine] = result.simulation->machine_text;
  if (csv_.empty()) csv_ = csv_header(point);
  csv_ += csv_line(point, result);
}

void Session::progress() const {
  if (!show_ || points_.size() == 1 || isatty(STDERR_FILENO) == 0) return;
  std::fprintf(stderr, "\r%zu of %zu runs%s", said_, points_.size(),
               said_ == points_.size() ? "\n" : "");
}

Status Session::write_files() {
  const auto write = [](const std::string& path, const std::string& text) {
    if (path != "-") return program::write_file(path, text);
    std::fputs(text.c_str(), stdout);
    return Status();
  };
  if (!options_.csv.empty()) {
    if (const Status status = write(options_.csv, csv_); !status.ok()) return status;
  }
  if (options_.json.empty()) return {};
  auto out = report_json(options_, std::move(json_));
  if (!machines_.empty()) out["machine_files"] = machines_;
  return write(options_.json, out.dump(2) + "\n");
}

}  // namespace keyway::lockbench
