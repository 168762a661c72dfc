#include "keyway/server/statistics/latencies.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace keyway::server {

std::uint64_t LatencyTable::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::uint64_t LatencyTable::percentile(double percent) const {
  const std::uint64_t total = count();
  if (total == 0) return 0;
  const double share = std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(total);
  // The tolerance keeps 99.9% of 1000 from becoming 999.0000000000001, which rounds to 1000.
  const auto wanted =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(share - 1e-9 * share)));
  std::uint64_t seen = 0;
  std::size_t bucket = 0;
  while ((seen += counts_[bucket]) < wanted) ++bucket;
  return LatencyBuckets::upper(bucket);
}

std::uint64_t LatencyTable::at_most(std::uint64_t ns) const {
  const auto end = counts_.begin() + static_cast<std::ptrdiff_t>(LatencyBuckets::of(ns)) + 1;
  return std::accumulate(counts_.begin(), end, std::uint64_t{0});
}

LatencyTable& LatencyTable::operator+=(const LatencyTable& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  return *this;
}

LatencyTable& LatencyTable::operator-=(const LatencyTable& earlier) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] -= earlier.counts_[i];
  return *this;
}

void Latencies::add_to(LatencyTable& table) const {
  for (std::size_t i = 0; i < counts_.size(); ++i) table.counts_[i] += counts_[i].value();
}

}  // namespace keyway::server
