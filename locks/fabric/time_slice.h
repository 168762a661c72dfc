// Time slices: how long one fiber computes before its siblings have their turn.
//
// *What.* A fiber that waits gives way by itself. A fiber that computes for long calls
// yield_if_due() between parts of its work, also while it holds a lock: siblings that want the
// lock retry in their turns, others wait with their deadlines.
// *Thread safety.* The caller's own fiber.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "keyway/locks/base/parts.h"

namespace keyway::fabric {

/// Far above the cost of a switch and of most requests, far below what another client notices.
inline constexpr std::uint64_t kSliceNs = 1'000'000;
/// Work on bytes reads the clock after this many: some 10 us apart.
inline constexpr std::size_t kSliceBytes = 64 << 10;
/// The same of work on keys.
inline constexpr std::size_t kSliceKeys = 16;

namespace this_fiber {

/// Calls yield_now() (fiber.h) when the caller has run for a slice since its last turn. Off a fiber
/// it does nothing.
void yield_if_due();
/// The same in a loop over keys, before the i-th: few keys cost no reading of the clock.
inline void yield_if_due(std::size_t i) {
  if (i % kSliceKeys == kSliceKeys - 1) yield_if_due();
}
/// For all fibers of this thread; 0 yields at each call, so that a test can count the calls.
void set_slice_ns(std::uint64_t ns);

}  // namespace this_fiber

/// Others have their turn between two parts, so bytes of one part cost no reading of the clock.
inline constexpr Parts kSlices{kSliceBytes, [] { this_fiber::yield_if_due(); }};
template <class Use>
void for_each_part(std::size_t bytes, Use&& use) {
  keyway::for_each_part(bytes, kSlices, use);
}

/// assign_in_parts() of several parts.
[[gnu::noinline]] inline void assign_long(std::string& out, std::string_view value) {
  out.clear();
  out.reserve(value.size());
  for_each_part(value.size(),
                [&](std::size_t at, std::size_t n) { out.append(value.substr(at, n)); });
}

/// Copies a value, a long one in parts between which others have their turn.
inline void assign_in_parts(std::string& out, std::string_view value) {
  if (value.size() > kSliceBytes) return assign_long(out, value);
  out.assign(value);
}
inline std::string copy_in_parts(std::string_view value) {
  std::string copy;
  assign_in_parts(copy, value);
  return copy;
}

}  // namespace keyway::fabric
