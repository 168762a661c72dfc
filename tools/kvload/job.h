// The work of one call of kvload: its options and properties, checked, as phases.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/base/status.h"
#include "keyway/workloads/spec.h"
#include "options.h"

namespace keyway::kvload {

/// The load, the warm-up, a run, or one step of a sweep.
struct Phase {
  enum class Kind { kLoad, kWarmUp, kRun };

  Kind kind = Kind::kRun;
  std::optional<double> write_percent;
  workloads::Spec spec;

  bool loads() const { return kind == Kind::kLoad; }
  bool warms_up() const { return kind == Kind::kWarmUp; }
  std::string name() const { return loads() ? "load" : warms_up() ? "warm-up" : "run"; }
  /// For people: "load", "warm-up", "run", "run with 5% writes".
  std::string title() const;
};

struct Job {
  Options options;
  workloads::Spec spec;  // as the properties say, before any sweep
  std::vector<Phase> phases;
  std::vector<std::string> notes;  // for stderr, once
  bool show = true;                // whether this process is the one that prints
};

/// The abilities of a store that the phases depend on.
struct StoreTraits {
  std::string_view name;          // "tbb:"
  std::string_view way;           // how it is reached, for the summary: "one-sided"
  bool in_process = true;         // starts empty with the program, so `run` loads first
  bool forgets = false;           // a record may be displaced: NOT_FOUND is no failure of the job
  std::string_view scan_refusal;  // why it cannot scan; empty if it can
  bool scans_in_key_order = false;
};

/// Reads and checks the properties. The phases follow with plan_phases(), which needs the store.
Result<Job> make_job(Options options);
/// Fills job.phases, or says what contradicts what.
/// `owners`: ranks that own keys.
Status plan_phases(Job& job, const StoreTraits& store, std::uint32_t owners);

/// Everything that must be the same on all ranks, as text.
std::string fingerprint(const Job& job);

/// Records of the job at its end, about.
double records_needed(const Job& job);
/// Memory that a table of ours needs on each of `ranks` ranks for all records of the job, in
/// bytes, with room to spare.
std::uint64_t memory_needed(const Job& job, std::uint32_t ranks);

}  // namespace keyway::kvload
