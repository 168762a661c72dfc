// Session: runs the points of a grid and says what came out, in the order of the grid.
//
// *What.* Points of simulated machines run side by side, as they do not disturb each other and no
// clock of this host is in their results; others run one after another.
// *Thread safety.* run() is called once, by one thread; it starts and joins its own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report.h"
#include "sweep.h"

#include "keyway/locks/base/mutex.h"

namespace keyway::lockbench {

class Session {
 public:
  /// `show`: whether this process prints (primary_rank.h).
  Session(const Options& options, std::vector<Point> points, bool show);

  /// The exit code.
  int run();

 private:
  void run_some();
  int end();
  Result<std::optional<RunResult>> run_point(const Point& point) const;
  std::size_t next_point();
  void finished(std::size_t number, Result<std::optional<RunResult>> result);
  void say(const Point& point, const RunResult& result) KW_REQUIRES(mutex_);
  void progress() const KW_REQUIRES(mutex_);
  Status write_files() KW_REQUIRES(mutex_);

  const Options& options_;
  const std::vector<Point> points_;
  const bool show_;
  bool to_stdout_ = true;  // text; not when JSON or CSV goes there

  Mutex mutex_;
  std::size_t next_ KW_GUARDED_BY(mutex_) = 0;
  std::map<std::size_t, std::optional<RunResult>> waiting_
      KW_GUARDED_BY(mutex_);  // for those before them
  std::size_t said_ KW_GUARDED_BY(mutex_) = 0;
  Status failure_ KW_GUARDED_BY(mutex_);
  std::size_t failed_at_ KW_GUARDED_BY(mutex_) = 0;  // the point of failure_
  bool check_failed_ KW_GUARDED_BY(mutex_) = false;
  std::vector<nlohmann::ordered_json> json_ KW_GUARDED_BY(mutex_);
  std::map<std::string, std::string> machines_ KW_GUARDED_BY(mutex_);  // texts by name, as used
  std::string csv_ KW_GUARDED_BY(mutex_);
};

}  // namespace keyway::lockbench
