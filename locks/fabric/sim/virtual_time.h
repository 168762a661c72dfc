// Virtual time in whole picoseconds, so that sums are exact and the same on every build and host.
//
// Costs are given in ns with fractions and rounded once, when a machine is set up. 64 bits of
// picoseconds last for 213 days.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace keyway::fabric::sim {

using Picos = std::uint64_t;

inline constexpr Picos kEndOfTime = std::numeric_limits<Picos>::max();

inline Picos picos(double ns) { return static_cast<Picos>(std::llround(ns * 1000)); }
/// Saturates: a time beyond the end never comes.
constexpr Picos picos_of_ns(std::uint64_t ns) {
  return ns > kEndOfTime / 1000 ? kEndOfTime : ns * 1000;
}
constexpr double ns_of(Picos time) { return static_cast<double>(time) / 1000; }

/// A cost per byte, in whole femtoseconds.
class ByteCost {
 public:
  explicit ByteCost(double ns_per_byte)
      : femtos_(static_cast<std::uint64_t>(std::llround(ns_per_byte * 1e6))) {}
  Picos of(std::uint64_t bytes) const { return bytes * femtos_ / 1000; }
  bool operator<(const ByteCost& other) const { return femtos_ < other.femtos_; }

 private:
  std::uint64_t femtos_;
};

}  // namespace keyway::fabric::sim
