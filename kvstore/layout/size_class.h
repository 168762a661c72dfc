// Size classes of the heap: which block holds how many bytes.
//
// A chunk of 16 KiB is cut into blocks of one class. Up to 512 bytes the classes are 8 bytes apart,
// so that a small element wastes 3.5 bytes on average; above, a chunk is cut into k equal parts, k
// = 31..1, so that nothing is lost at its end. An element larger than a chunk takes a run of whole
// chunks (kRunClass).
#pragma once

#include <algorithm>
#include <cstdint>

#include "keyway/locks/base/check.h"

namespace keyway::store {

inline constexpr std::uint64_t kChunkBytes = 16 * 1024;
inline constexpr std::uint64_t kMinBlockBytes = 32;
inline constexpr std::uint64_t kFineLimitBytes = 512;
inline constexpr std::uint64_t kFineStepBytes = 8;
inline constexpr std::uint32_t kFineClasses =
    (kFineLimitBytes - kMinBlockBytes) / kFineStepBytes + 1;                      // 32, 40, .. 512
inline constexpr std::uint32_t kCoarseParts = kChunkBytes / kFineLimitBytes - 1;  // 31 .. 1
inline constexpr std::uint32_t kClasses = kFineClasses + kCoarseParts;
inline constexpr std::uint32_t kRunClass = 255;

/// Bytes of a block of class c < kClasses.
constexpr std::uint64_t class_bytes(std::uint32_t c) {
  if (c < kFineClasses) return kMinBlockBytes + c * kFineStepBytes;
  const std::uint64_t parts = kCoarseParts - (c - kFineClasses);
  return kChunkBytes / parts / kFineStepBytes * kFineStepBytes;
}
/// The smallest class that holds `bytes`, or kRunClass.
constexpr std::uint32_t class_for(std::uint64_t bytes) {
  if (bytes <= kFineLimitBytes) {
    const std::uint64_t need = std::max(bytes, kMinBlockBytes);
    return static_cast<std::uint32_t>((need - kMinBlockBytes + kFineStepBytes - 1) /
                                      kFineStepBytes);
  }
  if (bytes > kChunkBytes) return kRunClass;
  auto c = static_cast<std::uint32_t>(kFineClasses + kCoarseParts - kChunkBytes / bytes);
  if (class_bytes(c) < bytes) ++c;  // rounding a part down to 8 bytes may leave it too small
  return c;
}
/// Blocks of class c in a chunk.
constexpr std::uint32_t class_capacity(std::uint32_t c) {
  return static_cast<std::uint32_t>(kChunkBytes / class_bytes(c));
}
/// Bytes of the chunk that block `index` stands for: the last one takes the rest of the chunk with
/// it, so that the blocks of a chunk add up to the chunk exactly.
constexpr std::uint64_t block_span(std::uint32_t c, std::uint32_t index) {
  return index + 1 == class_capacity(c) ? kChunkBytes - index * class_bytes(c) : class_bytes(c);
}
/// Chunks of a run that holds `bytes`.
constexpr std::uint64_t run_chunks(std::uint64_t bytes) {
  return (bytes + kChunkBytes - 1) / kChunkBytes;
}

static_assert(class_bytes(kClasses - 1) == kChunkBytes && class_for(kChunkBytes) == kClasses - 1);
static_assert(kClasses < kRunClass);

}  // namespace keyway::store
