// KeySurvey<E>: the lines and elements of several keys, read at once under their locks.
//
// *What.* Before an operation on several keys changes the first of them, it must know what there
// is: how long the chains are, which elements are to be marked, and where. The changes use these
// lines and elements as well, as long as no other key of the bucket has changed.
// *Thread safety.* One session's; the stripes of all keys are locked.
// *Round trips.* Two for the keys of one call, on whatever ranks, and one for each further line of
// the longest chain: lines, elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/volume/element_reader.h"
#include "keyway/locks/base/clear_and_shrink.h"
#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/gather.h"
#include "keyway/locks/fabric/with_access.h"

namespace keyway::store {

template <fabric::Endpoint E>
class KeySurvey {
 public:
  /// Keys of one call, at most: this bounds the memory.
  static constexpr std::size_t kAtOnce = 256;
  /// A longer block is read up to the value only.
  static constexpr std::uint64_t kLongestBlock = 4096;
  static constexpr std::size_t kMaxBytesKept = 64 << 10;

  /// An element in a block with the tag of a key.
  struct Candidate {
    std::size_t of = 0;  // index of the key
    EntryWord entry;
    bool is_key = false;    // it is the key's
    std::size_t begin = 0;  // its first bytes in bytes_
    std::size_t bytes = 0;
  };

  KeySurvey(E& ep, const Geometry& geometry) : ep_(ep), geometry_(geometry) {}
  KeySurvey(const KeySurvey&) = delete;
  KeySurvey& operator=(const KeySurvey&) = delete;

  /// key_of(i) is the i-th key.
  template <class KeyOf>
  void read(std::span<const Location> locations, KeyOf&& key_of) {
    find_candidates(locations);
    read_elements(locations, key_of);
    at_hand_.assign(locations.size(), kNone);
    for (std::size_t n = 0; n < candidates_.size(); ++n) {
      Candidate& candidate = candidates_[n];
      candidate.is_key = is_element_of(candidate, key_of(candidate.of));
      if (candidate.is_key && candidate.bytes == room(candidate.entry)) at_hand_[candidate.of] = n;
    }
  }
  std::span<const Candidate> candidates() const { return candidates_; }
  void shrink_buffers() { clear_and_shrink(bytes_, kMaxBytesKept); }
  /// Lines of the longest chain.
  std::size_t longest() const { return longest_; }
  /// The element of a candidate is marked now.
  void marked(const Candidate& candidate) {
    std::uint64_t first = 0;
    std::byte* const at = bytes_.data() + candidate.begin;
    std::memcpy(&first, at, sizeof first);
    first |= geometry_.elements().mark();
    std::memcpy(at, &first, sizeof first);
  }

  /// The first line of a key's bucket.
  const Bucket& first_line(std::size_t i) const { return first_lines_[i]; }
  /// The block of the key's element; none if that is long, inline, or not there.
  BlockAtHand block(std::size_t i) const {
    if (at_hand_[i] == kNone) return {};
    const Candidate& candidate = candidates_[at_hand_[i]];
    return {candidate.entry, bytes_of(candidate)};
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct NextLine {
    std::size_t of = 0;
    fabric::Address at;
    Bucket line;
  };

  void find_candidates(std::span<const Location> locations);
  template <class KeyOf>
  void read_elements(std::span<const Location> locations, KeyOf&& key_of);
  /// Bytes of the block, 0 for a run.
  static std::uint64_t room(EntryWord entry) {
    return entry.size_class() == kRunClass ? 0 : class_bytes(entry.size_class());
  }
  std::span<const std::byte> bytes_of(const Candidate& candidate) const {
    return std::span(bytes_).subspan(candidate.begin, candidate.bytes);
  }
  bool is_element_of(const Candidate& candidate, std::string_view key) const {
    const auto head = bytes_of(candidate);
    const auto header = ElementHeader::of(geometry_.elements(), head);
    return header.key_bytes() == key.size() && header.head_bytes() <= head.size() &&
           begins_with_key(geometry_.elements(), head, key);
  }
  void post_read(std::uint32_t rank, fabric::Address at, std::span<std::byte> out) {
    fabric::with_access(ep_, rank, [&](auto access) { ep_.post_read(access, at, out); });
  }

  E& ep_;
  const Geometry& geometry_;
  std::vector<Bucket> first_lines_;
  std::vector<NextLine> next_lines_;
  std::vector<Candidate> candidates_;
  std::vector<std::size_t> at_hand_;  // by key: index of a candidate
  std::vector<std::byte> bytes_;
  std::size_t longest_ = 0;
};

/// All entries with the keys' tags, line by line of all chains at once.
template <fabric::Endpoint E>
void KeySurvey<E>::find_candidates(std::span<const Location> locations) {
  candidates_.clear();
  next_lines_.clear();
  first_lines_.resize(locations.size());
  for (std::size_t i = 0; i < locations.size(); ++i) {
    next_lines_.push_back({i, geometry_.bucket(locations[i].rank, locations[i].bucket), {}});
  }
  for (longest_ = 0; !next_lines_.empty(); ++longest_) {
    fabric::post_together(ep_, [&] {
      for (NextLine& next : next_lines_) {
        post_read(next.at.rank(), next.at, std::as_writable_bytes(std::span(next.line.words)));
      }
    });
    ep_.flush_all();
    std::size_t kept = 0;
    for (NextLine& next : next_lines_) {
      const Bucket& line = next.line;
      if (longest_ == 0) first_lines_[next.of] = line;
      line.for_each_entry([&](std::uint32_t, EntryWord entry) {
        const bool may_be =
            entry.kind() == EntryKind::kHeap && entry.tag() == tag_of(locations[next.of].hash);
        if (may_be) candidates_.push_back({.of = next.of, .entry = entry});
      });
      if (line.link() == 0) continue;
      const NextLine further{next.of, {next.at.rank(), line.link()}, {}};
      next_lines_[kept++] = further;
    }
    next_lines_.resize(kept);
  }
}

template <fabric::Endpoint E>
template <class KeyOf>
void KeySurvey<E>::read_elements(std::span<const Location> locations, KeyOf&& key_of) {
  std::size_t total = 0;
  for (Candidate& candidate : candidates_) {
    const std::uint64_t block = room(candidate.entry);
    const std::uint64_t most =
        block == 0 ? geometry_.segment_bytes() - candidate.entry.offset() : block;
    const std::uint64_t head =
        std::min(geometry_.elements().bytes_with(key_of(candidate.of).size(), 0, true), most);
    candidate.begin = total;
    candidate.bytes = block != 0 && block <= kLongestBlock ? block : head;
    total += candidate.bytes;
  }
  bytes_.resize(total);
  fabric::post_together(ep_, [&] {
    for (const Candidate& candidate : candidates_) {
      const std::uint32_t rank = locations[candidate.of].rank;
      post_read(rank, {rank, candidate.entry.offset()},
                std::span(bytes_).subspan(candidate.begin, candidate.bytes));
    }
  });
  ep_.flush_all();
}

}  // namespace keyway::store
