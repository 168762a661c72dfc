// Latencies: how long a command took, as counts in buckets.
//
// *What.* Times from 0 to 2^36 ns (69 s; longer ones count as that), in buckets that are exact up
// to 63 ns and then 1/32 of their octave wide: a time read back is at most 3.1% above the one that
// was recorded.
// *Thread safety.* Latencies: one thread records, any may read meanwhile. LatencyTable: a value.
// *Invariants.*
//   I1  Recording never allocates.
// *Source.* HdrHistogram. Rejected: keyway::Histogram, whose buckets are an eighth as wide and take
// 75 KiB, for each command of each worker.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "keyway/server/statistics/counter.h"

namespace keyway::server {

struct LatencyBuckets {
  static constexpr std::uint32_t kSubBits = 5;
  static constexpr std::uint32_t kValueBits = 36;
  static constexpr std::uint64_t kMost = (std::uint64_t{1} << kValueBits) - 1;
  static constexpr std::size_t kCount = (static_cast<std::size_t>(kValueBits - kSubBits) + 1)
                                        << kSubBits;

  static constexpr std::size_t of(std::uint64_t ns) {
    if (ns > kMost) ns = kMost;
    if (ns < (std::uint64_t{2} << kSubBits)) return static_cast<std::size_t>(ns);
    const auto shift = static_cast<std::uint32_t>(std::bit_width(ns)) - kSubBits - 1;
    return (static_cast<std::size_t>(shift) << kSubBits) + static_cast<std::size_t>(ns >> shift);
  }
  /// The longest time that falls in `bucket`.
  static constexpr std::uint64_t upper(std::size_t bucket) {
    if (bucket < (std::size_t{2} << kSubBits)) return bucket;
    const auto shift = static_cast<std::uint32_t>(bucket >> kSubBits) - 1;
    const std::uint64_t lead = (bucket & ((1U << kSubBits) - 1)) | (1U << kSubBits);
    return ((lead + 1) << shift) - 1;
  }
};

/// What several Latencies have recorded, summed up.
class LatencyTable {
 public:
  std::uint64_t count() const;
  /// The least time, up to the bucket's width, that `percent` % of all do not exceed; 0 of nothing.
  std::uint64_t percentile(double percent) const;
  /// How many took at most `ns`, up to the bucket's width.
  std::uint64_t at_most(std::uint64_t ns) const;

  LatencyTable& operator+=(const LatencyTable& other);
  /// What was recorded since `earlier`, of the same counters.
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
