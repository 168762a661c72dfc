// The state word of a heap's chunk.
#pragma once

#include <cstdint>

#include "keyway/kvstore/layout/size_class.h"

namespace keyway::store {

/// A chunk's state word.
///   bits 63..56  class + 1; 0 the chunk is free; kRunHead the first of a run, kRunRest within one
///   bits 31..0   blocks that are not free; for a run's head the chunks of the run
class ChunkState {
 public:
  static constexpr std::uint64_t kRunHead = 0xfe;
  static constexpr std::uint64_t kRunRest = 0xff;

  constexpr explicit ChunkState(std::uint64_t word) : word_(word) {}
  constexpr ChunkState(std::uint64_t kind, std::uint64_t count) : word_(kind << 56 | count) {}
  static constexpr ChunkState cut(std::uint32_t size_class, std::uint64_t count) {
    return {size_class + 1ULL, count};
  }
  constexpr std::uint64_t word() const { return word_; }
  constexpr bool free() const { return word_ == 0; }
  constexpr std::uint64_t kind() const { return word_ >> 56; }
  constexpr bool is_cut() const { return kind() >= 1 && kind() <= kClasses; }
  constexpr std::uint32_t size_class() const { return static_cast<std::uint32_t>(kind() - 1); }
  constexpr std::uint64_t count() const { return word_ & 0xffffffff; }

 private:
  std::uint64_t word_;
};
static_assert(kClasses + 1 < ChunkState::kRunHead && kRunClass + 1 > 0xff);

}  // namespace keyway::store
