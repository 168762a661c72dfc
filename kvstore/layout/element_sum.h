// The terms of an element's checksum (element.h).
//
// *Thread safety.* Functions of their arguments. *Source.* The sum over 16-byte blocks of a
// multiplication of both halves, each with a key of its place, is NH (Black et al., UMAC, CRYPTO
// '99); folding the 128-bit product is wyhash's. Sums can be changed term by term, which XXH3 and
// CRC over everything cannot. Ours: 64 bits are kept of the sum, so those of a term are enough; and
// the keys of places are public, because the secret that the sum begins with is never shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "keyway/locks/fabric/time_slice.h"

namespace keyway::store {

/// What the sums of a store begin with.
enum class SumSeed : std::uint64_t {};

/// A change of the value touches the terms of whole blocks.
inline constexpr std::uint64_t kSumBlockBytes = 16;

namespace detail {

__extension__ using Product = unsigned __int128;

// Odd constants with bits in no order: the fractions of the square roots of 2, 3, 5 and 7.
inline constexpr std::uint64_t kFirstKey = 0x6a09e667f3bcc909;
inline constexpr std::uint64_t kSecondKey = 0xbb67ae8584caa73b;
inline constexpr std::uint64_t kFirstStep = 0x3c6ef372fe94f82b;
inline constexpr std::uint64_t kSecondStep = 0xa54ff53a5f1d36f1;

inline std::uint64_t sum_term(std::uint64_t first, std::uint64_t second, std::uint64_t place) {
  const Product product = static_cast<Product>(first ^ (kFirstKey + place * kFirstStep)) *
                          (second ^ (kSecondKey + place * kSecondStep));
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// The last bytes of `bytes`, fewer than a block, with zeros behind them. They are loaded together
/// with bytes before them where there are any: a load of bytes that were just copied one by one
/// waits for the copy.
inline Product last_block(std::span<const std::byte> bytes, std::uint64_t left) {
  Product block = 0;
  if (bytes.size() >= kSumBlockBytes) {
    std::memcpy(&block, bytes.data() + bytes.size() - kSumBlockBytes, kSumBlockBytes);
    return block >> 8 * (kSumBlockBytes - left);
  }
  std::memcpy(&block, bytes.data(), left);
  return block;
}

}  // namespace detail

// Places: those of the value come first, at most 2^25; then those of the key, then the header.
inline constexpr std::uint64_t kKeyPlace = 1ULL << 32;
inline constexpr std::uint64_t kHeaderPlace = 1ULL << 33;

/// The terms of bytes that begin with the block of `place`.
inline std::uint64_t sum_of_bytes(std::span<const std::byte> bytes, std::uint64_t place) {
  std::uint64_t sum = 0;
  const std::byte* at = bytes.data();
  std::uint64_t left = bytes.size();
  for (; left >= kSumBlockBytes; left -= kSumBlockBytes, at += kSumBlockBytes, ++place) {
    std::uint64_t halves[2];
    std::memcpy(halves, at, sizeof halves);
    sum += detail::sum_term(halves[0], halves[1], place);
  }
  if (left == 0) return sum;
  const detail::Product last = detail::last_block(bytes, left);
  return sum + detail::sum_term(static_cast<std::uint64_t>(last),
                                static_cast<std::uint64_t>(last >> 64), place);
}

/// The same of many bytes: others have their turn between parts.
inline std::uint64_t sum_in_parts(std::span<const std::byte> bytes, std::uint64_t place) {
  static_assert(fabric::kSliceBytes % kSumBlockBytes == 0);
  std::uint64_t sum = 0;
  fabric::for_each_part(bytes.size(), [&](std::size_t at, std::size_t n) {
    sum += sum_of_bytes(bytes.subspan(at, n), place + at / kSumBlockBytes);
  });
  return sum;
}

/// The terms of bytes 8..15 of a header, as one word, of the expiry, and of the stamp.
inline std::uint64_t sum_of_header(std::uint64_t word, std::uint64_t expires_at_ms,
                                   std::uint32_t stamp) {
  return detail::sum_term(word, expires_at_ms, kHeaderPlace) +
         detail::sum_term(stamp, 0, kHeaderPlace + 1);
}

}  // namespace keyway::store
