// PlacedKeys: the locations of keys that have been prefetched, for the operations that follow.
//
// *What.* To place a key is to hash it, and to find its owner among several ranks. A pipeline is
// prefetched before it is executed and names its keys again then, nearly all in the same order: to
// compare a key with the next ones here costs less.
// *Thread safety.* One session's.
// *Invariants.* A location depends on the bytes of a key and on the geometry and the number of
// ranks of the session's store alone, so none becomes stale.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "keyway/kvstore/layout/location.h"

namespace keyway::store {

class PlacedKeys {
 public:
  static constexpr std::size_t kMaxKeys = 64;
  static constexpr std::size_t kMaxBytes = 31;  // with longer keys, a row would outgrow a line
  // A key is compared with this many: a request that was refused leaves its own here.
  static constexpr std::size_t kAhead = 4;

  void clear() { next_ = count_ = 0; }
  /// Not a key that is too long, nor one for which there is no room.
  void add(std::string_view key, const Location& location) {
    if (count_ == kMaxKeys || key.size() > kMaxBytes) return;
    Row& row = rows_[count_++];
    row.location = location;
    row.bytes = static_cast<std::uint8_t>(key.copy(row.key.data(), row.key.size()));
  }
  /// The location of `key` if it is one of the next that were added, which it and those before it
  /// then have been; else null. Valid until the next add() or clear().
  const Location* take(std::string_view key) {
    const std::size_t end = std::min(count_, next_ + kAhead);
    for (std::size_t i = next_; i < end; ++i) {
      const Row& row = rows_[i];
      if (key != std::string_view(row.key.data(), row.bytes)) continue;
      next_ = i + 1;
      return &row.location;
    }
    return nullptr;
  }

 private:
  struct alignas(64) Row {
    Location location;
    std::uint8_t bytes = 0;
    std::array<char, kMaxBytes> key;
  };
  static_assert(sizeof(Row) == 64);

  std::array<Row, kMaxKeys> rows_;
  std::size_t count_ = 0;
  std::size_t next_ = 0;
};

}  // namespace keyway::store
