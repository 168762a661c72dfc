// ClockedEndpoint: an agent of a simulated machine with a wall clock that a test sets.
//
// *What.* A SimEndpoint that asks the test for the time of day: a clock that moves at each reading,
// or one that is wrong and is set back.
// *Thread safety.* As endpoint.h says.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "keyway/locks/fabric/sim/sim_fabric.h"

namespace keyway::test {

class ClockedEndpoint : public fabric::SimEndpoint {
 public:
  using WallMs = std::function<std::uint64_t()>;

  ClockedEndpoint(fabric::SimEndpoint inner, WallMs wall)
      : fabric::SimEndpoint(std::move(inner)), wall_(std::move(wall)) {}

  std::uint64_t wall_ms() const { return wall_(); }

 private:
  WallMs wall_;
};

}  // namespace keyway::test
