// Draws field lengths and scan lengths.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "keyway/locks/base/rng.h"
#include "keyway/workloads/spec.h"
#include "keyway/workloads/zipfian.h"

namespace keyway::workloads {

/// Immutable after construction, so free to share between threads.
///
/// Source: YCSB's generators of the same names. Deviation: its histogram draws each bucket one
/// weight too often and the last one block too short; here each has exactly its weight.
class LengthChooser {
 public:
  explicit LengthChooser(const LengthSpec& spec);
  /// A length in [spec.min, spec.max].
  std::uint64_t next(Rng& rng) const;

 private:
  std::uint64_t min_;
  std::uint64_t max_;
  LengthDistribution distribution_;
  std::optional<Zipfian> zipfian_;
  std::uint64_t block_;
  std::vector<std::uint64_t> cumulative_;  // kHistogram: weights summed up
};

}  // namespace keyway::workloads
