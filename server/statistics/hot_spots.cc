#include "keyway/server/statistics/hot_spots.h"

namespace keyway::server {

void HotSpots::add(Access access, std::string_view key, std::string_view stripe) {
  if (!mutex_.try_lock()) return;  // S1
  const MutexLock held(mutex_, std::adopt_lock);
  tops_[index(Spot::kKey, access)].add(key);
  tops_[index(Spot::kStripe, access)].add(stripe);
}

void HotSpots::add_to(HotReport& report, Spot spot, Access access) const {
  const MutexLock held(mutex_);
  const Top& top = tops_[index(spot, access)];
  top.add_to(report.entries);
  report.samples += top.total();
}

void HotSpots::clear() {
  const MutexLock held(mutex_);
  for (Top& top : tops_) top.clear();
}

}  // namespace keyway::server
