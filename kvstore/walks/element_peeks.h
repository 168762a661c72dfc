// ElementPeeks<E>: the first bytes of elements of another rank, read together for a walk.
//
// *Thread safety.* One session's. The bytes hold for as long as the elements' stripe is locked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "keyway/kvstore/layout/bucket.h"
#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/gather.h"

namespace keyway::store {

template <fabric::Endpoint E>
class ElementPeeks {
 public:
  void clear() {
    peeks_.clear();
    bytes_.clear();
  }
  std::size_t size() const { return peeks_.size(); }
  /// Adds an element to what post() reads. It has not been added yet.
  void add(EntryWord entry, std::uint64_t bytes) { peeks_.push_back({entry.offset(), bytes}); }
  /// Posts the reads. After the rank's flush, and until clear(), their bytes are in of().
  void post(E& ep, std::uint32_t rank) {
    std::sort(peeks_.begin(), peeks_.end(),
              [](const fabric::Part& a, const fabric::Part& b) { return a.offset < b.offset; });
    begins_.clear();
    std::size_t total = 0;
    for (const fabric::Part& peek : peeks_) {
      begins_.push_back(total);
      total += peek.bytes;
    }
    bytes_.resize(total);
    fabric::post_gather(ep, rank, std::span<const fabric::Part>(peeks_), std::span(bytes_));
  }
  /// The first bytes of the element of an entry; none if they were not read.
  std::span<const std::byte> of(EntryWord entry) const {
    const auto at = std::lower_bound(
        peeks_.begin(), peeks_.end(), entry.offset(),
        [](const fabric::Part& peek, std::uint64_t offset) { return peek.offset < offset; });
    if (at == peeks_.end() || at->offset != entry.offset()) return {};
    return std::span(bytes_).subspan(begins_[at - peeks_.begin()], at->bytes);
  }

 private:
  std::vector<fabric::Part> peeks_;  // in the order of their offsets, after post()
  std::vector<std::size_t> begins_;  // in bytes_, of each
  std::vector<std::byte> bytes_;
};

}  // namespace keyway::store
