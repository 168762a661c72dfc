// The stamp of an element: which change of its bucket has put it into its block.
//
//   bits 30..24  epoch of the stripe, its low bits
//   bits 23..0   version of the bucket's first line after the change (bucket.h)
//
// One change puts at most one element into a block, so a block never holds two elements of one key
// with equal stamps until the stripe's epoch has advanced 128 times: 2^31 changes of one line,
// which take minutes at the least. *Thread safety.* Values.
#pragma once

#include <cstdint>

#include "keyway/kvstore/layout/bucket.h"

namespace keyway::store {

inline constexpr std::uint32_t kStampVersionBits = 24;
static_assert(Bucket::kMaxVersion == (1u << kStampVersionBits) - 1);

/// The stamp that the next change of a line gives, of which the version and epoch are these.
constexpr std::uint32_t next_stamp(std::uint64_t epoch, std::uint64_t version) {
  constexpr std::uint64_t kEpochMask = (1u << (31 - kStampVersionBits)) - 1;
  const std::uint64_t next = version == Bucket::kMaxVersion ? 0 : version + 1;
  const std::uint64_t then = epoch + (next == 0 ? 1 : 0);
  return static_cast<std::uint32_t>((then & kEpochMask) << kStampVersionBits | next);
}

}  // namespace keyway::store
