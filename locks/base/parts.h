// Parts: how long work on bytes is cut, by code that knows no fibers.
//
// *Thread safety.* Values; `between` is called on the caller's thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace keyway {

/// Parts of `bytes` bytes, and a function that runs between two of them. The default is one part.
struct Parts {
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
  void (*between)() = nullptr;
};

/// Calls use(at, n) for each part of this many bytes.
template <class Use>
void for_each_part(std::size_t bytes, const Parts& parts, Use&& use) {
  for (std::size_t at = 0; at < bytes; at += parts.bytes) {
    if (at != 0) parts.between();
    use(at, std::min(parts.bytes, bytes - at));
  }
}

}  // namespace keyway
