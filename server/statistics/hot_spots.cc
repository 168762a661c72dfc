#include "keyway/server/statistics/hot_spots.h"

namespace keyway::server {

void HotSpots::add(Access access, std::string_view key, std::string_view stripe) {
  const std::unique_lock held(mutex_, std::try_to_lock);  // S1
  if (!held.owns_lock()) return;
  tops_[index(Spot::kKey, access)].add(key);
  tops_[index(Spot::kStripe, access)].add(stripe);
}

void HotSpots::add_to(HotReport& report, Spot spot, Access access) const {
  const std::lock_guard held(mutex_);
  const Top& top = tops_[index(spot, access)];
  top.add_to(report.entries);
  report.samples += top.total();
}

void HotSpots::clear() {
  const std::lock_guard held(mutex_);
  for (Top& top : tops_) top.clear();
}

}  // namespace keyway::server
