// Address: (rank, byte offset into that rank's segment) in 64 bits, so that it fits a lock word.
#pragma once

#include <compare>
#include <cstdint>

#include "keyway/locks/base/check.h"

namespace keyway::fabric {

/// Bit layout, most significant first:
///   bits 63..48  rank, 0..65535
///   bits 47..0   byte offset into the rank's segment (256 TiB)
/// The first kReservedBytes of every segment belong to the fabric, so no address is the word 0,
/// which serves as null.
class Address {
 public:
  static constexpr std::uint32_t kMaxRanks = 1u << 16;
  static constexpr std::uint64_t kMaxOffset = (1ULL << 48) - 1;

  constexpr Address() = default;  // null
  constexpr Address(std::uint32_t rank, std::uint64_t offset)
      : word_(static_cast<std::uint64_t>(rank) << 48 | offset) {
    KW_DCHECK(rank < kMaxRanks && offset <= kMaxOffset);
  }
  static constexpr Address from_word(std::uint64_t word) {
    Address address;
    address.word_ = word;
    return address;
  }

  constexpr std::uint64_t word() const { return word_; }
  constexpr std::uint32_t rank() const { return static_cast<std::uint32_t>(word_ >> 48); }
  constexpr std::uint64_t offset() const { return word_ & kMaxOffset; }
  constexpr bool is_null() const { return word_ == 0; }
  /// The address `bytes` further on in the same segment.
  constexpr Address operator+(std::uint64_t bytes) const {
    KW_DCHECK(bytes <= kMaxOffset - offset());  // so the rank's bits stay
    return from_word(word_ + bytes);
  }
  constexpr auto operator<=>(const Address&) const = default;

 private:
  std::uint64_t word_ = 0;
};
static_assert(sizeof(Address) == 8);

/// Bytes at the start of every segment that no layout may use.
inline constexpr std::uint64_t kReservedBytes = 4096;

/// One agent of the job: its home rank and its slot there. Names holders in lock words.
struct AgentId {
  std::uint32_t rank = 0;
  std::uint32_t slot = 0;

  /// Never 0, so that 0 can mean "no agent". Bits 47..16 rank + 1, bits 15..0 slot.
  constexpr std::uint64_t word() const {
    return (static_cast<std::uint64_t>(rank) + 1) << 16 | slot;
  }
  static constexpr AgentId from_word(std::uint64_t word) {
    return {static_cast<std::uint32_t>((word >> 16) - 1),
            static_cast<std::uint32_t>(word & 0xffff)};
  }
  constexpr auto operator<=>(const AgentId&) const = default;
};

}  // namespace keyway::fabric
