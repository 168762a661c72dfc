#include "keyway/workloads/length_chooser.h"

#include <algorithm>
#include <numeric>

#include "keyway/locks/base/check.h"

namespace keyway::workloads {

LengthChooser::LengthChooser(const LengthSpec& spec)
    : min_(spec.min), max_(spec.max), distribution_(spec.distribution), block_(spec.block) {
  KW_CHECK(min_ <= max_);
  if (distribution_ == LengthDistribution::kZipfian) zipfian_.emplace(max_ - min_ + 1, 0.99);
  if (distribution_ == LengthDistribution::kHistogram) {
    cumulative_.resize(spec.weights.size());
    std::partial_sum(spec.weights.begin(), spec.weights.end(), cumulative_.begin());
    KW_CHECK(!cumulative_.empty() && cumulative_.back() > 0);
  }
}

std::uint64_t LengthChooser::next(Rng& rng) const {
  switch (distribution_) {
    case LengthDistribution::kConstant: return max_;
    case LengthDistribution::kUniform: return min_ + rng.below(max_ - min_ + 1);
    case LengthDistribution::kZipfian: return min_ + zipfian_->next(rng);
    case LengthDistribution::kHistogram: break;
  }
  const std::uint64_t at = rng.below(cumulative_.back());
  const auto bucket = std::upper_bound(cumulative_.begin(), cumulative_.end(), at);
  return (static_cast<std::uint64_t>(bucket - cumulative_.begin()) + 1) * block_;
}

}  // namespace keyway::workloads
