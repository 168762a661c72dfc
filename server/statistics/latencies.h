// Latencies: how long a command took, as counts in buckets.
//
// *What.* Times from 0 to 2^36 ns (69 s; longer ones count as that), in buckets that are exact up
// to 63 ns and then 1/32 of their octave wide: a time read back is at most 3.1% above the one that
// was recorded.
// *Thread safety.* Latencies: one thread records, any may read meanwhile. LatencyTable: a value.
// *Invariants.*
//   I1  Recording never allocates.
// *Source.* HdrHistogram. Rejected: keyway::Histogram, with buckets an eighth as wide and 75 KiB,
// for each command of each worker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "keyway/locks/base/log_buckets.h"
#include "keyway/server/statistics/counter.h"

namespace keyway::server {

using LatencyBuckets = LogBuckets<5, 36>;

/// The sum of several Latencies.
class LatencyTable {
 public:
  std::uint64_t count() const;
  /// The least time, up to the bucket's width, that `percent` % of all do not exceed; 0 of nothing.
  std::uint64_t percentile(double percent) const;
  /// How many took at most `ns`, up to the bucket's width.
  std::uint64_t at_most(std::uint64_t ns) const;

  LatencyTable& operator+=(const LatencyTable& other);
  /// The values since `earlier`, of the same counters.
  LatencyTable& operator-=(const LatencyTable& earlier);

 private:
  friend class Latencies;
  std::array<std::uint64_t, LatencyBuckets::kCount> counts_{};
};

class Latencies {
 public:
  void record(std::uint64_t ns) { counts_[LatencyBuckets::of(ns)].add(1); }
  void add_to(LatencyTable& table) const;

 private:
  std::array<Counter, LatencyBuckets::kCount> counts_{};
};

}  // namespace keyway::server
