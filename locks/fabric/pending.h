// The value of an operation that has been issued and not yet flushed.
//
// The type says when it may be read: value() requires the receipt that a flush of the target rank
// returns. Reading with a receipt that is too old, or of another rank, is a broken invariant
// (checked with KEYWAY_DCHECK).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "keyway/locks/base/check.h"

namespace keyway::fabric {

/// Proof that every operation that the agent issued to `rank` up to `sequence` is complete at
/// the target. Only endpoints make one.
class Flushed {
 public:
  constexpr Flushed(std::uint32_t rank, std::uint64_t sequence)
      : sequence_(sequence), rank_(rank) {}
  constexpr bool covers(std::uint32_t rank, std::uint64_t sequence) const {
    return rank == rank_ && sequence <= sequence_;
  }

 private:
  std::uint64_t sequence_;
  std::uint32_t rank_;
};

/// The place where a fabric will write a 64-bit result, and the number of the agent's operation.
struct ResultSlot {
  std::uint64_t value = 0;
  std::uint64_t sequence = 0;
};

/// A 64-bit result. Copyable; belongs to the agent of the endpoint that made it.
class Pending {
 public:
  Pending() = default;
  /// A fabric that knows the value at once.
  static Pending known(std::uint32_t rank, std::uint64_t sequence, std::uint64_t value) {
    return Pending(rank, sequence, value, nullptr);
  }
  /// A fabric that will write the value to `slot`, which outlives the flush. The fabric says after
  /// how many further operations of the agent the slot serves another; reading later is a broken
  /// invariant as well.
  static Pending at(std::uint32_t rank, std::uint64_t sequence, const ResultSlot* slot) {
    return Pending(rank, sequence, 0, slot);
  }

  std::uint64_t value([[maybe_unused]] const Flushed& receipt) const {
    KW_DCHECK(receipt.covers(rank_, sequence_));
    KW_DCHECK(slot_ == nullptr || slot_->sequence == sequence_);
    return slot_ != nullptr ? slot_->value : value_;
  }

 private:
  Pending(std::uint32_t rank, std::uint64_t sequence, std::uint64_t value, const ResultSlot* slot)
      : value_(value), slot_(slot), sequence_(sequence), rank_(rank) {}

  std::uint64_t value_ = 0;
  const ResultSlot* slot_ = nullptr;
  std::uint64_t sequence_ = 0;
  std::uint32_t rank_ = 0;
};

/// Bytes that a bulk read will have written to the caller's buffer once flushed.
class PendingBytes {
 public:
  PendingBytes(std::uint32_t rank, std::uint64_t sequence, std::span<const std::byte> buffer)
      : buffer_(buffer), sequence_(sequence), rank_(rank) {}
  std::span<const std::byte> bytes([[maybe_unused]] const Flushed& receipt) const {
    KW_DCHECK(receipt.covers(rank_, sequence_));
    return buffer_;
  }

 private:
  std::span<const std::byte> buffer_;
  std::uint64_t sequence_;
  std::uint32_t rank_;
};

}  // namespace keyway::fabric
