// SipHash-c-d: a keyed hash of short inputs, 64 bits wide.
//
// *What.* A pseudorandom function under a 128-bit secret: without the secret, the hashes of any
// number of inputs do not predict a bit of the hash of another input. SipHash-1-3 serves the hash
// tables of Rust, Python and Ruby; SipHash-2-4 is the authors' conservative choice for
// authentication.
// *Thread safety.* A function of its arguments.
// *Source.* Aumasson, Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT'12. Deviation: the
// last word comes from overlapping loads instead of single bytes, which dominate short keys.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace keyway::store {

/// The key of the hash: as many bytes in memory, the lowest of `low` first.
struct HashSecret {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  bool operator==(const HashSecret&) const = default;
};

namespace detail {

static_assert(std::endian::native == std::endian::little);

template <class Word>
std::uint64_t load(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

/// The last word: up to 7 bytes, lowest first, and the length's low 8 bits above them.
inline std::uint64_t last_sip_word(const char* from, std::size_t left, std::size_t length) {
  const std::uint64_t word = static_cast<std::uint64_t>(length) << 56;
  if (left >= 4) {
    return word | load<std::uint32_t>(from) |
           load<std::uint32_t>(from + left - 4) << 8 * (left - 4);
  }
  if (left == 0) return word;
  // One, two or three bytes; of one and of two, some are loaded twice.
  return word | load<std::uint8_t>(from) | load<std::uint8_t>(from + left / 2) << 8 * (left / 2) |
         load<std::uint8_t>(from + left - 1) << 8 * (left - 1);
}

class SipState {
 public:
  explicit SipState(const HashSecret& secret)
      : a_(secret.low ^ 0x736f6d6570736575ULL),  // "somepseudorandomlygeneratedbytes"
        b_(secret.high ^ 0x646f72616e646f6dULL),
        c_(secret.low ^ 0x6c7967656e657261ULL),
        d_(secret.high ^ 0x7465646279746573ULL) {}

  template <int kRounds>
  void absorb(std::uint64_t word) {
    d_ ^= word;
    for (int i = 0; i < kRounds; ++i) round();
    a_ ^= word;
  }
  template <int kRounds>
  std::uint64_t finish() {
    c_ ^= 0xff;
    for (int i = 0; i < kRounds; ++i) round();
    return a_ ^ b_ ^ c_ ^ d_;
  }

 private:
  void round() {
    a_ += b_;
    c_ += d_;
    b_ = std::rotl(b_, 13) ^ a_;
    d_ = std::rotl(d_, 16) ^ c_;
    a_ = std::rotl(a_, 32);
    c_ += b_;
    a_ += d_;
    b_ = std::rotl(b_, 17) ^ c_;
    d_ = std::rotl(d_, 21) ^ a_;
    c_ = std::rotl(c_, 32);
  }

  std::uint64_t a_, b_, c_, d_;
};

}  // namespace detail

/// `kRounds` for each 8 bytes, `kLastRounds` at the end.
template <int kRounds, int kLastRounds>
std::uint64_t siphash(const HashSecret& secret, std::string_view bytes) {
  detail::SipState state(secret);
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    state.absorb<kRounds>(detail::load<std::uint64_t>(at));
  }
  state.absorb<kRounds>(detail::last_sip_word(at, left, bytes.size()));
  return state.finish<kLastRounds>();
}

}  // namespace keyway::store
