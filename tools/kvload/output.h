// The output of kvload: the text report on stdout, notes and failures on stderr, JSON and CSV
// files.
#pragma once

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "job.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/locks/base/status.h"
#include "keyway/workloads/report.h"
#include "phase.h"

namespace keyway::kvload {

struct PhaseOutcome {
  workloads::PhaseResult result;
  PhaseEnd end = PhaseEnd::kCompleted;
  std::string error;     // why a rank or thread could not take part; empty if all did
  std::string trouble;   // the first failed operation in words, if the store has some
  bool forgets = false;  // as StoreTraits::forgets
  store::RemoteWork remote;

  std::uint64_t failures() const {
    const workloads::Measurements& measured = result.measured;
    return measured.failures() -
           (forgets ? measured.count(workloads::return_of(Code::kNotFound)) : 0);
  }
  bool failed() const { return !error.empty() || failures() != 0; }
  bool gave_up() const { return end == PhaseEnd::kGaveUp; }
  bool interrupted() const { return end == PhaseEnd::kInterrupted; }
};

/// Says on stderr why the job cannot begin, if this process is the one that prints, and returns
/// the exit code that fits.
int report_failure(const Job& job, const Status& status);

/// Checks, before anything long begins, that the files of --json, --csv and exportfile can be
/// written.
Status check_files(const Job& job);

/// Prints if job.show; otherwise only keeps the exit code. Not thread-safe.
class Output {
 public:
  /// `way`: how the store is reached, for the summary.
  Output(const Job& job, std::string_view way, std::uint32_t ranks);

  void add(const Phase& phase, PhaseOutcome outcome);
  /// Says what went wrong beyond a phase.
  void fail(const std::string& sentence);
  /// Adds the locks of a rank's stripes, lines for people.
  void note_locks(const std::string& lines);
  /// Writes the files and returns the exit code.
  int finish();

 private:
  void print(const std::string& text);
  /// On stderr, and among the warnings of the JSON report.
  void warn(const std::string& sentence);
  /// Warnings that a reader of the phase's report needs beyond its numbers.
  void warn_of(const Phase& phase, const PhaseOutcome& outcome);
  Status append_summary() const;
  Status write_json() const;
  Status write_csv() const;

  const Job& job_;
  const std::string_view way_;
  const std::uint32_t ranks_;
  std::ofstream export_file_;
  std::vector<PhaseOutcome> outcomes_;
  std::vector<std::string> warnings_;
  std::vector<std::string> locks_;
  nlohmann::ordered_json stripes_ = nlohmann::ordered_json::array();
  bool failed_ = false;
};

}  // namespace keyway::kvload
