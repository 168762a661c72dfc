#include "keyway/locks/base/histogram.h"

#include <algorithm>
#include <cmath>

#include "keyway/locks/base/bytes.h"

namespace keyway {

double Histogram::mean() const {
  const std::uint64_t n = count();
  return n == 0 ? 0 : static_cast<double>(sum()) / static_cast<double>(n);
}

std::uint64_t Histogram::percentile(double percent) const {
  std::uint64_t total = 0;
  for (const auto& word : counts_) total += load(word);
  if (total == 0) return 0;
  const double share = std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(total);
  // The tolerance keeps 99.9% of 1000 from becoming 999.0000000000001, which rounds to 1000.
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share - 1e-9 * share));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += load(counts_[bucket]);
    if (seen >= std::max<std::uint64_t>(wanted, 1)) {
      return std::clamp(upper_of(bucket), min(), max());
    }
  }
  return max();
}

void Histogram::merge(const Histogram& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (const std::uint64_t n = load(other.counts_[i]); n != 0) add(counts_[i], n);
  }
  add(count_, other.count());
  add(sum_, other.sum());
  store(min_, std::min(load(min_), load(other.min_)));
  store(max_, std::max(load(max_), load(other.max_)));
}

Histogram Histogram::since(const Histogram& earlier) const {
  Histogram difference;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const std::uint64_t n = load(counts_[i]) - earlier.counts_[i];
    if (n == 0) continue;
    difference.counts_[i] = n;
    difference.count_ += n;
    const std::uint64_t below = i == 0 ? 0 : upper_of(i - 1) + 1;
    difference.min_ = std::min(difference.min_, std::max(below, min()));
    difference.max_ = std::min(upper_of(i), max());
  }
  difference.sum_ = sum() - earlier.sum_;
  return difference;
}

void Histogram::clear() { *this = Histogram(); }

void Histogram::serialize(std::string& out) const {
  std::uint64_t filled = 0;
  for (const auto& word : counts_) filled += load(word) != 0 ? 1 : 0;
  append_word(out, filled);
  append_word(out, sum());
  append_word(out, load(min_));
  append_word(out, max());
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (const std::uint64_t n = load(counts_[i]); n != 0) {
      append_word(out, i);
      append_word(out, n);
    }
  }
}

bool Histogram::deserialize(std::string_view& in) {
  std::uint64_t filled = 0;
  std::uint64_t other_sum = 0;
  std::uint64_t other_min = 0;
  std::uint64_t other_max = 0;
  if (!take_word(in, filled) || !take_word(in, other_sum) || !take_word(in, other_min) ||
      !take_word(in, other_max) || filled > kBuckets) {
    return false;
  }
  for (std::uint64_t i = 0; i < filled; ++i) {
    std::uint64_t bucket = 0;
    std::uint64_t n = 0;
    if (!take_word(in, bucket) || !take_word(in, n) || bucket >= kBuckets) return false;
    add(counts_[bucket], n);
    add(count_, n);
  }
  add(sum_, other_sum);
  store(min_, std::min(load(min_), other_min));
  store(max_, std::max(load(max_), other_max));
  return true;
}

}  // namespace keyway
