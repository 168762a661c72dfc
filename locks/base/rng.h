// A small, fast, seeded random number generator: the same seed gives the same run on every machine.
//
// Source: Blackman and Vigna, "Scrambled linear pseudorandom number generators"
// (xoshiro256++), seeded through splitmix64 as its authors advise. The standard
// library's distributions differ between implementations, so the ones we need are here.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace keyway {

/// One step of splitmix64: also a good 64-bit mixing function.
constexpr std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// Satisfies std::uniform_random_bit_generator. One per agent; not thread-safe.
class Rng {
 public:
  using result_type = std::uint64_t;

  explicit constexpr Rng(std::uint64_t seed) {
    for (auto& word : state_) word = splitmix64(seed);
  }
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  constexpr std::uint64_t operator()() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Uniform in [0, bound), with a negligible modulo bias (2^-64 * bound). bound > 0.
  constexpr std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<Wide>((*this)()) * bound) >> 64);
  }
  /// Uniform in [0, 1) with 53 random bits.
  constexpr double unit() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

 private:
  __extension__ using Wide = unsigned __int128;
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace keyway
