// SegmentLayout: assigns the bytes of a rank's segment to their users.
//
// Segments are symmetric: every rank lays out its segment alike, so that the
// address of anything on another rank is arithmetic. A layout is made before
// the fabric is, and its size() is the size of the segments.
#pragma once

#include <cstdint>

#include "keyway/locks/base/check.h"
#include "keyway/locks/fabric/address.h"

namespace keyway::fabric {

inline constexpr std::uint64_t kCacheLine = 64;

class SegmentLayout {
 public:
  /// Reserves `bytes` at a multiple of `align` (a power of two); returns their offset.
  std::uint64_t reserve(std::uint64_t bytes, std::uint64_t align = kCacheLine) {
    KW_CHECK(align != 0 && (align & (align - 1)) == 0);
    const std::uint64_t offset = (size_ + align - 1) & ~(align - 1);
    size_ = offset + bytes;
    return offset;
  }
  std::uint64_t size() const { return size_; }

 private:
  std::uint64_t size_ = kReservedBytes;
};

/// Most agents that a rank can hold at once, unless the fabric's options say otherwise.
inline constexpr std::uint32_t kDefaultAgentsPerRank = 64;

}  // namespace keyway::fabric
