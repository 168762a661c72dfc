// Dht: total time of inserts into one rank's volume of integers, and reads of it, by all others.
//
// *What.* The agents of all ranks but --home insert (a share F_W) and read at random elements of
// the volume there: under the lock by plain puts and gets, or with --lock fompi-a by atomics and
// without a lock. The warm-up fills the volume; a read looks up an element of the warm-up.
// *Source.* HPDC'16 section 5.3. The paper gives neither the volume's size nor the number of
// operations.
#pragma once

#include <cstdint>
#include <string_view>

namespace keyway::lockbench {

struct Dht {
  static constexpr std::string_view kName = "dht";
  static constexpr std::string_view kWhat =
      "total time of inserts and reads of one rank's volume by all others";
  static constexpr bool kEmptySection = false;
  static constexpr std::uint32_t kLocks = 1;

  template <class Visitor>
  static void inside(Visitor& visitor) {
    visitor.use_volume();
  }
  template <class Visitor>
  static void after(Visitor&) {}
};

}  // namespace keyway::lockbench
