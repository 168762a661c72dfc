#include "keyway/server/statistics/heavy_hitters.h"

#include <algorithm>
#include <functional>

namespace keyway::server {

void HeavyHitters::add(std::string_view name) {
  const std::uint64_t hash = std::hash<std::string_view>()(name);
  const auto end = hashes_.begin() + static_cast<std::ptrdiff_t>(used_);
  auto at = static_cast<std::size_t>(std::find(hashes_.begin(), end, hash) - hashes_.begin());
  if (at == used_) {
    if (used_ < kPlaces) {
      ++used_;
    } else {
      const auto least =
          std::min_element(places_.begin(), places_.end(),
                           [](const Place& a, const Place& b) { return a.count < b.count; });
      at = static_cast<std::size_t>(least - places_.begin());
    }
    Place& place = places_[at];
    hashes_[at] = hash;
    place.max_error = place.count;
    place.name_bytes = static_cast<std::uint32_t>(name.size());
    std::copy_n(name.begin(), std::min(name.size(), kNameBytes), place.name.begin());
  }
  ++places_[at].count;
  if (++total_ >= kWindow) halve();
}

/// Entries with a count of 0 free their places.
void HeavyHitters::halve() {
  total_ /= 2;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < used_; ++i) {
    Place place = places_[i];
    place.count /= 2;
    place.max_error /= 2;
    if (place.count == 0) continue;
    hashes_[kept] = hashes_[i];
    places_[kept++] = place;
  }
  std::fill(places_.begin() + static_cast<std::ptrdiff_t>(kept), places_.end(), Place());
  used_ = kept;
}

void HeavyHitters::clear() {
  places_.fill(Place());
  used_ = 0;
  total_ = 0;
}

void HeavyHitters::add_to(std::vector<HeavyHitter>& entries) const {
  for (std::size_t i = 0; i < used_; ++i) {
    const Place& place = places_[i];
    auto found = std::find_if(entries.begin(), entries.end(),
                              [&](const HeavyHitter& entry) { return entry.hash == hashes_[i]; });
    if (found == entries.end()) {
      const std::size_t kept = std::min<std::size_t>(place.name_bytes, kNameBytes);
      entries.push_back({.name = std::string(place.name.data(), kept),
                         .hash = hashes_[i],
                         .name_bytes = place.name_bytes});
      found = entries.end() - 1;
    }
    found->count += place.count;
    found->max_error += place.max_error;
  }
}

void keep_top(std::vector<HeavyHitter>& entries, std::size_t most) {
  std::sort(entries.begin(), entries.end(), [](const HeavyHitter& a, const HeavyHitter& b) {
    return a.count != b.count ? a.count > b.count : a.name < b.name;
  });
  if (entries.size() > most) entries.resize(most);
}

}  // namespace keyway::server
