// HotSpots: which keys and stripes a worker's requests visit most, reads and writes apart.
//
// *What.* One access in about `every` is sampled: due() counts down, and is the only cost of the
// others. The distance is drawn again each time, so that a client with a fixed cycle does not
// always show the same access.
// *Thread safety.* due() and add() belong to the worker's thread. Any thread may call the rest.
// *Invariants.* S1: the worker never waits: a sample that meets a reader is dropped.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "keyway/locks/base/mutex.h"
#include "keyway/locks/base/rng.h"
#include "keyway/server/statistics/heavy_hitters.h"

namespace keyway::server {

enum class Access : std::uint8_t { kRead, kWrite };
inline constexpr std::array kAccesses = {Access::kRead, Access::kWrite};
enum class Spot : std::uint8_t { kKey, kStripe };

/// The hottest of one sort, and of how many samples.
struct HotReport {
  std::vector<HeavyHitter> entries;
  std::uint64_t samples = 0;
};

class HotSpots {
 public:
  static constexpr std::uint32_t kEvery = 64;

  /// `every` is 1 at least.
  explicit HotSpots(std::uint64_t seed, std::uint32_t every = kEvery) : every_(every), rng_(seed) {}

  /// Whether this request is one to be looked at.
  bool due() {
    if (--until_ != 0) [[likely]]
      return false;
    until_ = static_cast<std::uint32_t>(1 + rng_.below(2 * std::uint64_t{every_} - 1));
    return true;
  }
  void add(Access access, std::string_view key, std::string_view stripe);

  /// Adds what was counted to `report`.
  void add_to(HotReport& report, Spot spot, Access access) const;
  void clear();

 private:
  static constexpr std::size_t index(Spot spot, Access access) {
    return static_cast<std::size_t>(spot) * kAccesses.size() + static_cast<std::size_t>(access);
  }

  const std::uint32_t every_;
  std::uint32_t until_ = 1;
  Rng rng_;
  mutable Mutex mutex_;
  std::array<HeavyHitters, 4> hitters_ KW_GUARDED_BY(mutex_);
};

}  // namespace keyway::server
