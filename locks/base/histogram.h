// A latency histogram in the style of HdrHistogram.
//
// *What*. Counts of values from 0 to 2^44 ns (about 4.9 hours), in buckets that are exact below 512
// and then 1/256 of their octave wide: a value read back is at most 0.4% above the recorded value.
// Sum, minimum and maximum are exact. Larger values count as the maximum.
// *Thread safety*. One thread records; any thread may read meanwhile and sees each counter at some
// recent moment. merge() and clear() are for the recording thread.
// *Invariants*. I1: count() is the sum of all buckets. I2: recording never allocates.
// *Thread safety*. One thread records; any thread may read meanwhile and sees each
// counter at some recent moment. merge() and clear() are for the recording thread.
// *Invariants*. I1: count() is the sum of all buckets. I2: recording never allocates.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/base/log_buckets.h"

namespace keyway {

class Histogram {
 public:
  static constexpr std::uint32_t kSubBits = 8;
  using Buckets = LogBuckets<kSubBits, 44>;
  static constexpr std::uint64_t kMaxValue = Buckets::kMax;
  static constexpr double kRelativeError = 1.0 / (1 << kSubBits);
  static constexpr std::size_t kBuckets = Buckets::kCount;

  Histogram() : counts_(kBuckets, 0) {}

  /// Counts `value`, in ns, `times` times.
  void record(std::uint64_t value, std::uint64_t times = 1) {
    if (value > kMaxValue) value = kMaxValue;
    add(counts_[bucket_of(value)], times);
    add(count_, times);
    add(sum_, value * times);
    if (value < load(min_)) store(min_, value);
    if (value > load(max_)) store(max_, value);
  }

  std::uint64_t count() const { return load(count_); }
  std::uint64_t sum() const { return load(sum_); }
  /// 0 if nothing was recorded.
  std::uint64_t min() const { return count() == 0 ? 0 : load(min_); }
  std::uint64_t max() const { return load(max_); }
  double mean() const;
  /// The smallest value, up to the bucket's width, that is at least `percent` % of all values.
  std::uint64_t percentile(double percent) const;

  /// Adds all counts of `other`; its owner may still be recording.
  void merge(const Histogram& other);
  /// The values recorded since `earlier`, a copy of this. Minimum and maximum are bounds of
  /// buckets, because the exact ones of an interval are not known.
  Histogram since(const Histogram& earlier) const;
  void clear();

  /// Appends a compact form for another rank.
  void serialize(std::string& out) const;
  /// Removes serialize()'s bytes from the front of `in` and adds them; false if they are malformed.
  bool deserialize(std::string_view& in);

  static constexpr std::size_t bucket_of(std::uint64_t value) { return Buckets::of(value); }
  /// The largest value that falls in `bucket`.
  static constexpr std::uint64_t upper_of(std::size_t bucket) { return Buckets::upper(bucket); }

 private:
  // Relaxed: statistics only; they publish nothing else. A load and a store instead of a
  // read-modify-write, because only one thread writes.
  static std::uint64_t load(const std::uint64_t& word) {
    return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(word))
        .load(std::memory_order_relaxed);
  }
  static void store(std::uint64_t& word, std::uint64_t value) {
    std::atomic_ref<std::uint64_t>(word).store(value, std::memory_order_relaxed);
  }
  static void add(std::uint64_t& word, std::uint64_t value) { store(word, load(word) + value); }

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t min_ = kMaxValue;
  std::uint64_t max_ = 0;
};

}  // namespace keyway
