#include "keyway/server/statistics/hot_spots.h"

namespace keyway::server {

void HotSpots::add(Access access, std::string_view key, std::string_view stripe) {
  if (!mutex_.try_lock()) return;  // S1
  const MutexLock held(mutex_, std::adopt_lock);
  hitters_[index(Spot::kKey, access)].add(key);
  hitters_[index(Spot::kStripe, access)].add(stripe);
}

void HotSpots::add_to(HotReport& report, Spot spot, Access access) const {
  const MutexLock held(mutex_);
  const HeavyHitters& hitters = hitters_[index(spot, access)];
  hitters.add_to(report.entries);
  report.samples += hitters.total();
}

void HotSpots::clear() {
  const MutexLock held(mutex_);
  for (HeavyHitters& hitters : hitters_) hitters.clear();
}

}  // namespace keyway::server
