// The kinds of locks of a simulated store.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "keyway/locks/distributed/any_lock.h"

namespace keyway::test {

/// `other`: the kind to which stripes may be switched, if any.
inline std::vector<locks::AnyLock> kinds_of(std::string_view lock, std::string_view other) {
  std::vector<locks::AnyLock> kinds = {*locks::AnyLock::make(lock)};
  if (!other.empty()) kinds.push_back(*locks::AnyLock::make(other));
  return kinds;
}

/// How many have words on every rank. The geometry wants these to be the first ones.
inline std::uint32_t satellite_kinds(std::span<const locks::AnyLock> kinds) {
  return static_cast<std::uint32_t>(std::count_if(
      kinds.begin(), kinds.end(), [](const auto& kind) { return kind.traits().satellites; }));
}

}  // namespace keyway::test
