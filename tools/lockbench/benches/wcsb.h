// Wcsb: throughput with work inside: a shared counter, then local work.
//
// *Source.* HPDC'16 section 5: each process increments a shared counter and then spins for a random
// time (1-4 us).
#pragma once

#include <cstdint>
#include <string_view>

namespace keyway::lockbench {

struct Wcsb {
  static constexpr std::string_view kName = "wcsb";
  static constexpr std::string_view kWhat =
      "throughput, a shared counter and 1-4 us of work inside";
  static constexpr bool kEmptySection = false;
  static constexpr std::uint32_t kLocks = 1;

  template <class Visitor>
  static void inside(Visitor& visitor) {
    visitor.increment();
    visitor.work();
  }
  template <class Visitor>
  static void after(Visitor&) {}
};

}  // namespace keyway::lockbench
