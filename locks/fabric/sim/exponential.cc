#include "keyway/locks/fabric/sim/exponential.h"

#include <algorithm>
#include <array>
#include <bit>

namespace keyway::fabric::sim {
namespace {

__extension__ using Wide = unsigned __int128;

// ln 2 as a fraction of 2^64.
constexpr std::uint64_t kLn2 = 0xb17217f7d1cf79abULL;

constexpr std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b >> 64);
}

// Q[k] of algorithm S: the sum of (ln 2)^i / i! for i = 1 .. k + 1, which approaches 1.
constexpr auto kSums = [] {
  std::array<std::uint64_t, 20> sums{};
  std::uint64_t term = kLn2;
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    sum += term;
    sums[k] = sum;
    term = product(term, kLn2) / (k + 2);
  }
  sums.back() = ~std::uint64_t{0};
  return sums;
}();

}  // namespace

Picos exponential(Rng& rng, Picos mean) {
  // As many halvings as there are leading ones, then the fraction after the first zero.
  std::uint64_t halvings = 0;
  std::uint64_t fraction = rng();
  while (fraction == ~std::uint64_t{0}) {
    halvings += 64;
    fraction = rng();
  }
  const int ones = std::countl_one(fraction);
  halvings += static_cast<std::uint64_t>(ones);
  fraction = ones == 63 ? rng() : fraction << (ones + 1);

  std::uint64_t least = fraction;
  if (fraction >= kLn2) {
    least = rng();
    for (std::size_t k = 1;; ++k) {
      least = std::min<std::uint64_t>(least, rng());
      if (fraction < kSums[k] || k + 1 == kSums.size()) break;
    }
    least = product(least, kLn2);
  }
  const Wide multiple = static_cast<Wide>(halvings) * kLn2 + least;  // in units of 2^-64
  return static_cast<Picos>((multiple >> 32) * mean >> 32);
}

}  // namespace keyway::fabric::sim
