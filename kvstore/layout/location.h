// Location: the place of a key: its owner's rank, its bucket, and the stripe that guards the
// bucket.
//
// *Thread safety.* A value, and a function of its arguments.
#pragma once

#include <cstdint>
#include <string_view>

#include "keyway/kvstore/layout/geometry.h"

namespace keyway::store {

struct Location {
  std::uint64_t hash = 0;
  std::uint64_t bucket = 0;
  std::uint64_t stripe = 0;
  std::uint32_t rank = 0;
};

/// The rank that owns a key, in a store of `ranks` ranks.
inline std::uint32_t owner_of_key(std::string_view key, std::uint32_t ranks) {
  return ranks == 1 ? 0 : owner_of_slot(slot_of(key), ranks);
}

inline Location location_of(const Geometry& geometry, std::string_view key, std::uint32_t ranks) {
  Location location;
  location.hash = geometry.hash_of(key);
  location.bucket = geometry.bucket_of(location.hash);
  location.stripe = geometry.stripe_of(location.bucket);
  location.rank = owner_of_key(key, ranks);
  return location;
}

/// The location of a whole bucket, whatever its keys.
inline Location location_of(const Geometry& geometry, std::uint32_t rank, std::uint64_t bucket) {
  return {.bucket = bucket, .stripe = geometry.stripe_of(bucket), .rank = rank};
}

}  // namespace keyway::store
