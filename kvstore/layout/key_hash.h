// The place of a key: its owner rank, its bucket and its tag.
//
// Owner: CRC16 of the key, or of its {hash tag}, modulo 16384 gives a slot; equal runs of slots
// belong to the ranks, so that clients of Redis Cluster can go to the owner. Bucket and tag:
// SipHash with the store's secret, independent of the slot, so that the keys of one rank spread
// over all of its buckets, and clients cannot choose keys that share a bucket.
#pragma once

#include <cstdint>
#include <string_view>

#include "keyway/kvstore/layout/siphash.h"

namespace keyway::store {

inline constexpr std::uint32_t kSlots = 16384;

/// Slot of a key, 0..16383: CRC16 (XMODEM) of what is between the first '{' and the next '}' when
/// that is not empty, else of the whole key. Redis Cluster specification, "Key distribution model".
std::uint32_t slot_of(std::string_view key);
/// The rank that owns a slot.
constexpr std::uint32_t owner_of_slot(std::uint32_t slot, std::uint32_t ranks) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(slot) * ranks / kSlots);
}
/// SipHash-1-3. Geometry::hash_of() applies a store's own secret.
[[gnu::hot]] std::uint64_t hash_key(const HashSecret& secret, std::string_view key);

}  // namespace keyway::store
