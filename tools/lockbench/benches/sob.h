// Sob: throughput with a single memory access inside.
//
// *Source.* HPDC'16 section 5: irregular workloads, such as graphs with one lock per vertex.
#pragma once

#include <cstdint>
#include <string_view>

namespace keyway::lockbench {

struct Sob {
  static constexpr std::string_view kName = "sob";
  static constexpr std::string_view kWhat = "throughput, one memory access inside";
  static constexpr bool kEmptySection = false;
  static constexpr std::uint32_t kLocks = 1;

  template <class Visitor>
  static void inside(Visitor& visitor) {
    visitor.touch();
  }
  template <class Visitor>
  static void after(Visitor&) {}
};

}  // namespace keyway::lockbench
