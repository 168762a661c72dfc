// Lb: latency: the time of an acquire and of its release, under the load of all agents.
//
// *Source.* HPDC'16 section 5: the arithmetic mean over the operations of all processes.
#pragma once

#include <cstdint>
#include <string_view>

namespace keyway::lockbench {

struct Lb {
  static constexpr std::string_view kName = "lb";
  static constexpr std::string_view kWhat =
      "latency of acquire and release, empty critical section";
  static constexpr bool kEmptySection = true;
  static constexpr std::uint32_t kLocks = 1;

  template <class Visitor>
  static void inside(Visitor&) {}
  template <class Visitor>
  static void after(Visitor&) {}
};

}  // namespace keyway::lockbench
