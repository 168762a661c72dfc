// The measurements of a phase: return codes and latencies for each kind of operation.
//
// Counts are exact even if only a share of the latencies is measured. Thread safety: one thread
// records, others may read meanwhile (see histogram.h).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "keyway/locks/base/histogram.h"
#include "keyway/locks/base/status.h"
#include "keyway/workloads/spec.h"

namespace keyway::workloads {

/// A store's code, or what the load generator itself found wrong with an answer.
enum class Return : std::uint8_t {
  kOk = 0,
  // 1 to 13 are those of keyway::Code
  kUnexpectedState = 14,  // the value read is not one that was written
  kError = 15,            // a value that must be there is empty
};
inline constexpr std::size_t kReturns = 16;
constexpr Return return_of(Code code) { return static_cast<Return>(code); }
/// Whether the store answered about the record, if not as expected. The others are failures of the
/// store itself: it cannot be reached, is full, times out, refuses.
constexpr bool is_answer(Return value) {
  for (const Return answer :
       {Return::kOk, return_of(Code::kNotFound), return_of(Code::kExists),
        return_of(Code::kMismatch), return_of(Code::kNotANumber), return_of(Code::kOverflow),
        Return::kUnexpectedState, Return::kError}) {
    if (value == answer) return true;
  }
  return false;
}
/// As in "Return=NOT_FOUND".
std::string_view return_name(Return value);

/// OpKind's, and the checks that dataintegrity makes.
enum class Metric : std::uint8_t { kRead, kUpdate, kInsert, kScan, kReadModifyWrite, kVerify };
inline constexpr std::size_t kMetrics = 6;
constexpr Metric metric_of(OpKind kind) { return static_cast<Metric>(kind); }
std::string_view metric_name(Metric metric);

class Measurements {
 public:
  struct Series {
    Histogram ok;
    Histogram failed;
    Histogram intended_ok;
    Histogram intended_failed;
    std::array<std::uint64_t, kReturns> returns{};

    std::uint64_t operations() const;
    std::uint64_t failures() const { return operations() - count(Return::kOk); }
    std::uint64_t count(Return value) const;
  };

  Measurements() = default;
  /// Makes room for what a run of `spec` can measure, so that recording never allocates.
  explicit Measurements(const Spec& spec);

  /// Counts `times` operations.
  void count(Metric metric, Return value, std::uint64_t times = 1) {
    auto word = std::atomic_ref(at(metric).returns[static_cast<std::size_t>(value)]);
    // Relaxed, and no read-modify-write: one thread writes; readers only show the number.
    word.store(word.load(std::memory_order_relaxed) + times, std::memory_order_relaxed);
  }
  /// Takes the latency of `times` operations that all took `ns`.
  void latency(Metric metric, Return value, std::uint64_t ns, std::uint64_t times = 1) {
    Series& series = at(metric);
    (value == Return::kOk ? series.ok : series.failed).record(ns, times);
  }
  void intended_latency(Metric metric, Return value, std::uint64_t ns, std::uint64_t times = 1) {
    Series& series = at(metric);
    (value == Return::kOk ? series.intended_ok : series.intended_failed).record(ns, times);
  }

  /// The series of `metric`, or null when there is none.
  const Series* find(Metric metric) const {
    return series_[static_cast<std::size_t>(metric)].get();
  }
  /// All operations that did not return OK, failed checks included.
  std::uint64_t failures() const;
  /// All operations that returned `value`.
  std::uint64_t count(Return value) const;

  void merge(const Measurements& other);
  void serialize(std::string& out) const;
  bool deserialize(std::string_view& in);

 private:
  Series& at(Metric metric) { return *series_[static_cast<std::size_t>(metric)]; }
  Series& make(std::size_t metric);

  std::array<std::unique_ptr<Series>, kMetrics> series_;
};

}  // namespace keyway::workloads
