// Memory: the segments of a simulated machine's ranks, with a hash of all words.
//
// *What.* Equal contents have equal hashes, whatever led to them, so an explorer recognises a state
// without comparing the bytes. The explorer asks after every step, so its memory keeps the hash up
// to date; a caller that asks once has it computed then.
// *Thread safety.* None: one thread simulates.
#pragma once

#include <cstdint>
#include <vector>

#include "keyway/locks/fabric/address.h"
#include "keyway/locks/fabric/sim/operation.h"

namespace keyway::fabric::sim {

class Memory {
 public:
  enum class Hashing : std::uint8_t { kKept, kOnDemand };

  Memory(std::uint32_t ranks, std::uint64_t segment_bytes, Hashing hashing = Hashing::kKept);

  std::uint32_t ranks() const { return ranks_; }
  std::uint64_t segment_bytes() const { return words_per_rank_ * 8; }
  std::uint64_t load(Address a) const { return words_[index(a)]; }
  void store(Address a, std::uint64_t value);
  /// Carries out one operation at once; returns the old word, 0 for bytes.
  std::uint64_t apply(const Operation& op);
  const std::byte* view(Address a) const { return bytes() + byte(a); }

  std::uint64_t hash() const { return hashing_ == Hashing::kKept ? hash_ : made_hash(); }
  /// Raised by every store that changes a word.
  std::uint64_t changes() const { return changes_; }
  /// All zero again. For an explorer it costs what has changed.
  void clear();

 private:
  const std::byte* bytes() const { return reinterpret_cast<const std::byte*>(words_.data()); }
  std::uint64_t byte(Address a) const { return a.rank() * words_per_rank_ * 8 + a.offset(); }
  std::uint64_t index(Address a) const {
    KW_DCHECK(a.rank() < ranks_ && a.offset() % 8 == 0 && a.offset() / 8 < words_per_rank_);
    return byte(a) / 8;
  }
  void store_bytes(Address a, const std::byte* in, std::uint64_t bytes);
  void set(std::uint64_t index, std::uint64_t value);
  std::uint64_t made_hash() const;

  std::uint32_t ranks_;
  std::uint64_t words_per_rank_;
  std::vector<std::uint64_t> words_;
  Hashing hashing_;
  std::uint64_t hash_ = 0;
  std::uint64_t changes_ = 0;
  std::vector<std::uint64_t> touched_;  // kKept: all words that may differ from zero
};

}  // namespace keyway::fabric::sim
