// AddressCache: where a process has seen the elements of remote keys, so that the next read of a
// key needs one message.
//
// *What.* A table of fixed size, in the memory of one process and shared by its sessions. An entry
// says in which block the element of a key was, and its stamp (stamp.h). It may be out of date, or
// mix two entries: a reader believes only the element, and only if it has that stamp.
// *Thread safety.* All functions, by any thread. Words are relaxed: an entry publishes nothing.
// *Sizes.* kBytesPerAddress for each key that is remembered. Pages that are not used take no
// memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "keyway/kvstore/layout/bucket.h"
#include "keyway/kvstore/volume/found.h"

namespace keyway::store {

class AddressCache {
 public:
  static constexpr std::uint64_t kBytesPerAddress = 16;

  /// Room for as many addresses as take `bytes`, rounded down to a power of two; kSet at least.
  explicit AddressCache(std::uint64_t bytes);
  AddressCache(const AddressCache&) = delete;
  AddressCache& operator=(const AddressCache&) = delete;

  /// By the key's hash. Another key may have the same.
  std::optional<ElementPlace> find(std::uint64_t hash) const;
  /// Remembers it instead of what was known of this key, or else of another one.
  void learn(std::uint64_t hash, const ElementPlace& known);
  void forget(std::uint64_t hash);
  std::uint64_t capacity() const { return (mask_ + 1) * kSet; }

  /// Addresses of a set, which is a cache line: a key has one set, and any place in it.
  static constexpr std::uint64_t kSet = 4;

 private:
  // The stamp in the high 32 bits, the low bits of the mixed hash below; 0: empty, for an entry's
  // first word is never 0.
  struct Entry {
    std::atomic<std::uint64_t> entry;
    std::atomic<std::uint64_t> check;
  };
  static_assert(sizeof(Entry) == kBytesPerAddress);
  struct Unmapped {
    std::uint64_t bytes;
    void operator()(Entry* entries) const;
  };

  static constexpr std::uint64_t kHashBits = 32;
  static constexpr std::uint64_t kHashMask = (1ULL << kHashBits) - 1;

  static std::uint64_t mixed(std::uint64_t hash);
  std::span<Entry> set_of(std::uint64_t mixed_hash) const {
    return {&entries_[(mixed_hash >> kHashBits & mask_) * kSet], kSet};
  }

  std::uint64_t mask_;
  std::unique_ptr<Entry[], Unmapped> entries_;
};

}  // namespace keyway::store
