// Warb: throughput with work between a release and the next acquire.
//
// *Source.* HPDC'16 section 5: after release, processes wait for a random time (1-4 us).
#pragma once

#include <cstdint>
#include <string_view>

namespace keyway::lockbench {

struct Warb {
  static constexpr std::string_view kName = "warb";
  static constexpr std::string_view kWhat =
      "throughput, 1-4 us of work between release and acquire";
  static constexpr bool kEmptySection = true;
  static constexpr std::uint32_t kLocks = 1;

  template <class Visitor>
  static void inside(Visitor&) {}
  template <class Visitor>
  static void after(Visitor& visitor) {
    visitor.work();
  }
};

}  // namespace keyway::lockbench
