// Hashes of what happened in an execution, for the states of an exploration.
#pragma once

#include <cstdint>

#include "keyway/locks/base/rng.h"

namespace keyway::fabric::sim {

/// `hash` of a sequence, with one more value at its end.
inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  std::uint64_t state = hash ^ (value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2));
  return splitmix64(state);
}

}  // namespace keyway::fabric::sim
