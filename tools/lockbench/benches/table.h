// Table: throughput of a table of locks that is spread evenly over the ranks.
//
// *Source.* SPAA'24 section 6: an operation is one lock and one unlock; 20, 100 or 1000 locks.
#pragma once

#include <cstdint>
#include <string_view>

namespace keyway::lockbench {

struct Table {
  static constexpr std::string_view kName = "table";
  static constexpr std::string_view kWhat =
      "throughput of a table of locks, with --locks and --locality";
  static constexpr bool kEmptySection = true;
  static constexpr std::uint32_t kLocks = 100;

  template <class Visitor>
  static void inside(Visitor&) {}
  template <class Visitor>
  static void after(Visitor&) {}
};

}  // namespace keyway::lockbench
