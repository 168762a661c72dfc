// HeavyHitters: the keys, or stripes, that come most often, of a stream that is too long to count.
//
// *What.* kPlaces places, each with a name and a count. A name without a place takes the place with
// the smallest count and continues from that count, which is the maximum by which it may be
// overrated (`max_error`). So every name with more than 1/kPlaces of the stream has a place. After
// each kWindow accesses, all counts are halved, so names that are no longer hot leave.
// *Thread safety.* None; HotSpots has the lock.
// *Invariants.*
//   T1  count - max_error <= how often the name came since counts were last halved to nothing
//       <= count.
//   T2  Memory is bounded, and add() allocates nothing.
// *Source.* Space-Saving: Metwally, Agrawal, El Abbadi, ICDT'05. Names are found by their hashes;
// of a long one the beginning is kept.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::server {

/// One name of a HeavyHitters, or of several added up.
struct HeavyHitter {
  std::string name;  // its beginning, if it is longer than HeavyHitters::kNameBytes
  std::uint64_t hash = 0;
  std::uint64_t name_bytes = 0;
  std::uint64_t count = 0;
  std::uint64_t max_error = 0;
};

class HeavyHitters {
 public:
  static constexpr std::size_t kPlaces = 128;
  static constexpr std::size_t kNameBytes = 128;
  static constexpr std::uint64_t kWindow = 1 << 16;

  [[gnu::hot]] void add(std::string_view name);
  void clear();
  /// All counts, of names that have a place or not.
  std::uint64_t total() const { return total_; }
  /// Adds its names to `entries`, those that are there already to their counts.
  void add_to(std::vector<HeavyHitter>& entries) const;

 private:
  struct Place {
    std::uint32_t count = 0;
    std::uint32_t max_error = 0;
    std::uint32_t name_bytes = 0;
    std::array<char, kNameBytes> name{};
  };

  void halve();

  std::array<std::uint64_t, kPlaces> hashes_{};  // beside the places: they are searched
  std::array<Place, kPlaces> places_{};
  std::size_t used_ = 0;
  std::uint64_t total_ = 0;
};

/// Puts the most counted first, and drops all but `most`.
void keep_top(std::vector<HeavyHitter>& entries, std::size_t most);

}  // namespace keyway::server
