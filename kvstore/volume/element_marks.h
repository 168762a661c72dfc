// ElementMarks<E>: marks the elements of several keys before the first of them changes.
//
// *Why.* Readers without locks would otherwise see the new value of one key and then the old value
// of another. They refuse a marked element and take its lock, which the writer holds (K8). Absent
// and inline keys need no mark, since they are always read under the lock.
// *Thread safety.* One session's; the stripes of all keys are locked for writing.
// *Round trips.* Three for kAtOnce keys on whatever ranks, and one for each further line of the
// longest chain: lines, elements, marks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/volume/bucket_chain.h"
#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/fiber.h"
#include "keyway/locks/fabric/with_access.h"

namespace keyway::store {

template <fabric::Endpoint E>
class ElementMarks {
 public:
  /// Keys that are looked for at once.
  static constexpr std::size_t kAtOnce = 64;

  ElementMarks(E& ep, const Geometry& geometry, BucketChain<E>& chain)
      : ep_(ep), geometry_(geometry), chain_(chain) {}
  ElementMarks(const ElementMarks&) = delete;
  ElementMarks& operator=(const ElementMarks&) = delete;

  /// Marks the elements of these keys that are there, and in a block; key_of(i) is the i-th key.
  /// Complete on return.
  template <class KeyOf>
  void mark(std::span<const Location> locations, KeyOf&& key_of) {
    for (std::size_t from = 0; from < locations.size(); from += kAtOnce) {
      const auto part = locations.subspan(from, std::min(kAtOnce, locations.size() - from));
      find_candidates(part);
      read_heads(part, [&](std::size_t i) { return key_of(from + i); });
      for (const Candidate& candidate : candidates_) {
        const std::string_view key = key_of(from + candidate.of);
        if (!is_element_of(candidate, key)) continue;
        chain_.mark(part[candidate.of].rank, candidate.entry);
      }
    }
    chain_.end_marks();
  }

 private:
  /// An entry with the tag of a key.
  struct Candidate {
    std::size_t of = 0;  // index of the key
    EntryWord entry;
    std::size_t head = 0;  // where its first bytes lie in heads_
    std::size_t head_bytes = 0;
  };
  struct NextLine {
    std::size_t of = 0;
    fabric::Address at;
    Bucket line;
  };

  void find_candidates(std::span<const Location> locations);
  template <class KeyOf>
  void read_heads(std::span<const Location> locations, KeyOf&& key_of);
  bool is_element_of(const Candidate& candidate, std::string_view key) const {
    const auto head = std::span(heads_).subspan(candidate.head, candidate.head_bytes);
    const ElementHeader header = ElementHeader::of(head);
    return header.key_bytes() == key.size() && header.head_bytes() <= head.size() &&
           begins_with_key(head, key);
  }
  void post_read(std::uint32_t rank, fabric::Address at, std::span<std::byte> out) {
    fabric::with_access(ep_, rank, [&](auto access) { ep_.post_read(access, at, out); });
  }

  E& ep_;
  const Geometry& geometry_;
  BucketChain<E>& chain_;
  std::vector<NextLine> lines_;
  std::vector<Candidate> candidates_;
  std::vector<std::byte> heads_;
};

/// All entries with the keys' tags, line by line of all chains at once.
template <fabric::Endpoint E>
void ElementMarks<E>::find_candidates(std::span<const Location> locations) {
  candidates_.clear();
  lines_.clear();
  for (std::size_t i = 0; i < locations.size(); ++i) {
    lines_.push_back({i, geometry_.bucket(locations[i].rank, locations[i].bucket), {}});
  }
  while (!lines_.empty()) {
    for (NextLine& next : lines_) {
      post_read(next.at.rank(), next.at, std::as_writable_bytes(std::span(next.line.words)));
    }
    ep_.flush_all();
    std::size_t kept = 0;
    for (NextLine& next : lines_) {
      const Bucket& line = next.line;
      for (std::uint32_t i = 1; i < kBucketWords; i += line.entry(i).words()) {
        const EntryWord entry = line.entry(i);
        if (entry.kind() == EntryKind::kEmpty) break;
        const bool may_be =
            entry.kind() == EntryKind::kHeap && entry.tag() == tag_of(locations[next.of].hash);
        if (may_be) candidates_.push_back({next.of, entry});
      }
      if (line.link() == 0) continue;
      const NextLine further{next.of, {next.at.rank(), line.link()}, {}};
      lines_[kept++] = further;
    }
    lines_.resize(kept);
  }
}

template <fabric::Endpoint E>
template <class KeyOf>
void ElementMarks<E>::read_heads(std::span<const Location> locations, KeyOf&& key_of) {
  std::size_t total = 0;
  for (Candidate& candidate : candidates_) {
    const std::uint64_t room = candidate.entry.size_class() == kRunClass
                                   ? geometry_.segment_bytes() - candidate.entry.offset()
                                   : class_bytes(candidate.entry.size_class());
    candidate.head = total;
    candidate.head_bytes = std::min(layout_bytes(key_of(candidate.of).size(), 0, true), room);
    total += candidate.head_bytes;
  }
  heads_.resize(total);
  for (const Candidate& candidate : candidates_) {
    const std::uint32_t rank = locations[candidate.of].rank;
    post_read(rank, {rank, candidate.entry.offset()},
              std::span(heads_).subspan(candidate.head, candidate.head_bytes));
  }
  ep_.flush_all();
}

}  // namespace keyway::store
