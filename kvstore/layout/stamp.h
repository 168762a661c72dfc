// The stamp of an element: which change of its bucket has put it into its block.
//
//   bits 31..24  epoch of the stripe, its low bits
//   bits 23..0   version of the bucket's first line after the change (bucket.h)
//
// One change of a bucket puts at most one element of a key into a block, so two changes that do so
// differ in their stamps until the stripe's epoch has advanced 256 times: 2^32 changes of one line,
// which take minutes at the least. Elements of other buckets may have the same stamp; the key tells
// them apart. An element that the heap moves keeps its stamp. *Thread safety.* Values.
#pragma once

#include <cstdint>

#include "keyway/kvstore/layout/bucket.h"

namespace keyway::store {

inline constexpr std::uint32_t kStampVersionBits = 24;
static_assert(Bucket::kMaxVersion == (1u << kStampVersionBits) - 1);

/// The stamp that the next change of a line gives, of which the version and epoch are these.
constexpr std::uint32_t next_stamp(std::uint64_t epoch, std::uint64_t version) {
  constexpr std::uint64_t kEpochMask = (1u << (32 - kStampVersionBits)) - 1;
  const std::uint64_t next = version == Bucket::kMaxVersion ? 0 : version + 1;
  const std::uint64_t then = epoch + (next == 0 ? 1 : 0);
  return static_cast<std::uint32_t>((then & kEpochMask) << kStampVersionBits | next);
}

/// Whether a stamp is newer than a line's version, within half of the versions.
constexpr bool stamp_is_newer(std::uint32_t stamp, std::uint64_t version) {
  return ((version - stamp) & Bucket::kMaxVersion) > Bucket::kMaxVersion / 2;
}

}  // namespace keyway::store
