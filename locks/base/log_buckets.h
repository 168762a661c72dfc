// Buckets that widen with the value, as in HdrHistogram.
//
// *What.* Values from 0 to 2^kValueBits - 1, in buckets that are exact below 2^(kSubBits + 1) and
// then 1/2^kSubBits of their octave wide. *Thread safety.* Functions of their arguments.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace keyway {

template <std::uint32_t kSubBits, std::uint32_t kValueBits>
struct LogBuckets {
  static constexpr std::uint64_t kMax = (std::uint64_t{1} << kValueBits) - 1;
  static constexpr std::size_t kCount = (static_cast<std::size_t>(kValueBits - kSubBits) + 1)
                                        << kSubBits;

  /// Larger values fall in the last bucket.
  static constexpr std::size_t of(std::uint64_t value) {
    if (value > kMax) value = kMax;
    if (value < (std::uint64_t{2} << kSubBits)) return static_cast<std::size_t>(value);
    const auto shift = static_cast<std::uint32_t>(std::bit_width(value)) - kSubBits - 1;
    return (static_cast<std::size_t>(shift) << kSubBits) + static_cast<std::size_t>(value >> shift);
  }
  /// The largest value that falls in `bucket`.
  static constexpr std::uint64_t upper(std::size_t bucket) {
    if (bucket < (std::size_t{2} << kSubBits)) return bucket;
    const auto shift = static_cast<std::uint32_t>(bucket >> kSubBits) - 1;
    const std::uint64_t lead = (bucket & ((1U << kSubBits) - 1)) | (1U << kSubBits);
    return ((lead + 1) << shift) - 1;
  }
};

}  // namespace keyway
