// SeenVersions: words of remote locks, as one agent has last seen or left them.
//
// *What.* A lock may count its exclusive visits in its word. An agent that finds the version that
// it has seen before, without a writer, knows that nobody has written in between (fompi_rw.h, G4).
// A counter that is as a writer left it is closed without a look (rma_rw_write.h). A table without
// chains, which grows when half of it is used; of two locks in one place the newer one stays.
// *Thread safety.* One agent's.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "keyway/locks/fabric/address.h"

namespace keyway::locks {

class SeenVersions {
 public:
  /// Enough for the stripes of some remote ranks: 256 KiB.
  static constexpr std::size_t kMaxPlaces = 16384;

  /// 0 for a lock that is not known: no version is lower.
  std::uint64_t of(fabric::Address line) const {
    if (places_.empty()) return 0;
    const Place& place = places_[index(line.word())];
    return place.line == line.word() ? place.version : 0;
  }
  /// A hint: without memory for it nothing is learned.
  void learn(fabric::Address line, std::uint64_t version) noexcept {
    if (used_ * 2 >= places_.size() && places_.size() < kMaxPlaces) grow();
    if (places_.empty()) return;
    const Place fresh{line.word(), version};
    Place& place = places_[index(fresh.line)];
    if (place.line == 0) ++used_;
    digest_ ^= digest_of(place) ^ digest_of(fresh);
    place = fresh;
  }
  /// The same for the same versions of the same locks; for explorations.
  std::uint64_t digest() const { return digest_; }

 private:
  struct Place {
    std::uint64_t line = 0;
    std::uint64_t version = 0;
  };
  static constexpr std::size_t kMinPlaces = 64;
  static constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;  // 2^64 over the golden ratio

  /// By the high bits: the rank is in those of an address, and changes no lower ones.
  std::size_t index(std::uint64_t line) const {
    return line * kOdd >> (64 - std::countr_zero(places_.size()));
  }
  /// Each lock finds a place: two that were apart stay apart.
  [[gnu::noinline]] void grow() noexcept {
    try {
      std::vector<Place> larger(std::max(kMinPlaces, places_.size() * 4));
      std::swap(larger, places_);
      for (const Place& place : larger) {
        if (place.line != 0) places_[index(place.line)] = place;
      }
    } catch (const std::bad_alloc&) {
    }
  }
  static std::uint64_t digest_of(const Place& place) {
    return place.version == 0 ? 0 : (place.line * kOdd + place.version) * kOdd;
  }

  std::vector<Place> places_;  // a power of two of them
  std::size_t used_ = 0;       // at least; locks have shared places since
  std::uint64_t digest_ = 0;
};

}  // namespace keyway::locks
