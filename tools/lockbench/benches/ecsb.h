// Ecsb: throughput with an empty critical section.
//
// *Source.* HPDC'16 section 5.
#pragma once

#include <cstdint>
#include <string_view>

namespace keyway::lockbench {

struct Ecsb {
  static constexpr std::string_view kName = "ecsb";
  static constexpr std::string_view kWhat = "throughput, empty critical section";
  static constexpr bool kEmptySection = true;
  static constexpr std::uint32_t kLocks = 1;

  template <class Visitor>
  static void inside(Visitor&) {}
  template <class Visitor>
  static void after(Visitor&) {}
};

}  // namespace keyway::lockbench
