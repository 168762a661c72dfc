// turns_of(): how often work on a fiber gives its turn. With slices of no length, each reading of
// the clock is a turn, so that turns can be counted.
//
// *Thread safety.* One thread's: the length of slices is the thread's.
#pragma once

#include <cstddef>
#include <functional>

#include "keyway/locks/fabric/fiber.h"
#include "keyway/locks/fabric/time_slice.h"

namespace keyway::test {

class NoSlices {
 public:
  NoSlices() { fabric::this_fiber::set_slice_ns(0); }
  NoSlices(const NoSlices&) = delete;
  NoSlices& operator=(const NoSlices&) = delete;
  ~NoSlices() { fabric::this_fiber::set_slice_ns(fabric::kSliceNs); }
};

inline std::size_t turns_of(const std::function<void()>& work) {
  const NoSlices always;
  fabric::FiberPool pool(1, [&](std::size_t) { work(); });
  pool.run();
  std::size_t turns = 0;
  for (; pool.busy() != 0; ++turns) pool.step();
  return turns;
}

}  // namespace keyway::test
