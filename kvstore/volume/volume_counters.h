// VolumeCounters<E>: the counters of a volume, and the next expiries of its stripes.
//
// *What.* Each stripe counts its elements and the wrap-arounds of its lines' versions (its epoch,
// K6), and has a word of its next expiry (K7). Each volume counts its elements with an expiry and
// keeps the length of its longest chain. Example: a key of this node that gets an expiry is counted
// by an atomic of the processor, also where other ranks count through the fabric.
// *Thread safety.* One session's. A stripe's words change under its lock held for writing, so plain
// words will do locally; words of the volume are shared by all stripes and change by atomics.
// *Invariants.* K6 and K7 of session.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/kvstore/volume/key_change.h"
#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/gather.h"
#include "keyway/locks/fabric/with_access.h"

namespace keyway::store {

/// A stripe's epoch, and whether the rank was flushed to read it.
struct EpochRead {
  std::uint64_t epoch = 0;
  bool flushed = false;
};

template <fabric::Endpoint E>
class VolumeCounters {
 public:
  /// The number of stripes with words that are read at once.
  static constexpr std::uint64_t kStripesAhead = 32;

  VolumeCounters(E& ep, const Geometry& geometry)
      : ep_(ep), geometry_(geometry), noted_chain_(ep.ranks(), 1) {}
  VolumeCounters(const VolumeCounters&) = delete;
  VolumeCounters& operator=(const VolumeCounters&) = delete;

  /// Counts the expiry of a key that changes, and keeps K7. How many elements there are changes
  /// with write_element_count().
  [[gnu::hot]] void count(const KeyChange& change);
  /// Counts the elements that have come and gone in a stripe since the last call.
  void write_element_count(const Location& location);
  /// K6: the version of a bucket's first line wraps around.
  void advance_epoch(const Location& location) { add_at(location, kEpochOffset, 1); }
  /// Raises the mark of the longest chain. The mark is a figure: it publishes nothing, and no
  /// access depends on its order.
  void note_chain(std::uint32_t rank, std::uint64_t lines);

  /// Posts reads of those words of a remote stripe that this session's last write has needed, along
  /// with the bucket's line: one flush completes all. Returns whether it has posted any.
  bool post_words(const Location& location);
  /// Posted reads may have been made without the lock: the next call posts it again.
  void forget_words() { stamps_ = std::exchange(epoch_posted_, false) || stamps_; }
  /// The bucket's line has been read without them.
  void read_none() {
    forget_words();
    next_expiry_posted_ = false;
  }
  /// The stripe is locked for writing.
  void set_next_expiry(std::uint32_t rank, std::uint64_t stripe, std::uint64_t at_ms);
  /// For consecutive stripes, kStripesAhead at most, in one round trip. They are not locked:
  /// concurrent writes may be missed, and the next sweep finds them.
  void read_next_expiries(std::uint32_t rank, std::uint64_t stripe, std::span<std::uint64_t> out);

  /// Elements of a rank. On a remote one it costs a round trip for kStripesAhead stripes.
  std::uint64_t elements(std::uint32_t rank);
  /// Whether a rank has an element with an expiry.
  bool any_expires(std::uint32_t rank) {
    return expiring(rank) != 0 || expiring(rank) != 0;  // once more: see expiring()
  }
  /// It costs a load for each stripe, whatever the size of the memory.
  VolumeCounts counts(std::uint32_t rank);
  /// The epoch of a stripe, for the stamp of an element that a write puts into a block.
  EpochRead epoch_for_stamp(const Location& location);
  /// The epoch of a stripe, under its lock.
  template <class Access>
  std::uint64_t epoch(Access access, const Location& location) {
    return ep_.load(access, stripe_word(location, kEpochOffset));
  }

 private:
  fabric::Address stripe_word(const Location& location, std::uint64_t offset) const {
    return geometry_.stripe_counters(location.rank, location.stripe) + offset;
  }
  void add_at(const Location& location, std::uint64_t offset, std::int64_t change);
  std::uint64_t expiring(std::uint32_t rank);
  void note_expiry(const Location& location, std::uint64_t expires_at_ms);

  E& ep_;
  const Geometry& geometry_;
  std::int64_t elements_ = 0;  // not written yet
  // By rank: a lower bound of the volume's mark of the longest chain.
  std::vector<std::uint64_t> noted_chain_;
  // Words of a remote stripe under change, read with the bucket's line.
  std::uint64_t next_expiry_ = 0;
  std::uint64_t epoch_ = 0;
  bool next_expiry_posted_ = false;
  bool epoch_posted_ = false;
  // What the last write did, the next one may do as well:
  bool writes_expiry_ = false;  // gave an expiry
  bool stamps_ = false;         // put an element into a block
};

template <fabric::Endpoint E>
inline void VolumeCounters<E>::count(const KeyChange& change) {
  const Found& before = change.before;
  const bool goes = change.after == nullptr;
  const std::uint64_t expiry = goes ? kNoExpiry : change.after->expires_at_ms;
  const bool expires = expiry != kNoExpiry;
  if (!goes) {
    const bool another = expires && expiry != before.head.expires_at_ms;
    // A change of a part sets the element's present expiry: this says nothing about the next write.
    writes_expiry_ = another || (expires && change.after->action == Decision::Action::kWrite);
    if (another) note_expiry(change.location, expiry);
  }
  if (before.head.expires() != expires) {
    const fabric::Address header = geometry_.header(change.location.rank);
    const std::uint64_t more = expires ? 1 : ~0ULL;
    if (ep_.is_local(change.location.rank)) {
      ep_.fetch_add(fabric::cpu, header + kExpiringHereOffset, more);
    } else {
      ep_.post_fetch_add(fabric::rma, header + kExpiringFarOffset, more);
    }
  }
  elements_ += static_cast<int>(!goes) - static_cast<int>(before.at != 0);
}

template <fabric::Endpoint E>
inline void VolumeCounters<E>::write_element_count(const Location& location) {
  if (elements_ == 0) return;
  add_at(location, kElementsOffset, std::exchange(elements_, 0));
}

template <fabric::Endpoint E>
void VolumeCounters<E>::add_at(const Location& location, std::uint64_t offset,
                               std::int64_t change) {
  const fabric::Address count = stripe_word(location, offset);
  if (ep_.is_local(location.rank)) {
    ep_.store(fabric::cpu, count,
              ep_.load(fabric::cpu, count) + static_cast<std::uint64_t>(change));
  } else {
    ep_.post_fetch_add(fabric::rma, count, static_cast<std::uint64_t>(change));
  }
}

template <fabric::Endpoint E>
void VolumeCounters<E>::note_chain(std::uint32_t rank, std::uint64_t lines) {
  std::uint64_t& noted = noted_chain_[rank];
  if (lines <= noted) return;
  const fabric::Address mark = geometry_.header(rank) + kLongestChainOffset;
  noted = ep_.load(fabric::rma, mark);
  while (noted < lines) {  // a round that fails has seen a higher mark, so the rounds end
    const std::uint64_t seen = ep_.compare_swap(fabric::rma, mark, noted, lines);
    noted = seen == noted ? lines : seen;
  }
}

template <fabric::Endpoint E>
bool VolumeCounters<E>::post_words(const Location& location) {
  // Bulk reads of one word: they change under this stripe's lock only.
  const auto post = [&](fabric::Address word, std::uint64_t& to) {
    ep_.post_read(fabric::rma, word, std::as_writable_bytes(std::span(&to, 1)));
  };
  next_expiry_posted_ = writes_expiry_;
  epoch_posted_ = std::exchange(stamps_, false);
  if (next_expiry_posted_) {
    post(geometry_.next_expiry(location.rank, location.stripe), next_expiry_);
  }
  if (epoch_posted_) post(stripe_word(location, kEpochOffset), epoch_);
  return next_expiry_posted_ || epoch_posted_;
}

template <fabric::Endpoint E>
EpochRead VolumeCounters<E>::epoch_for_stamp(const Location& location) {
  if (ep_.is_local(location.rank)) return {epoch(fabric::cpu, location)};
  stamps_ = true;
  if (epoch_posted_) return {epoch_};
  const fabric::Pending epoch = ep_.post_load(fabric::rma, stripe_word(location, kEpochOffset));
  return {epoch.value(ep_.flush(location.rank)), true};
}

/// K7, as an element is written that expires then. The stripe is locked for writing.
template <fabric::Endpoint E>
void VolumeCounters<E>::note_expiry(const Location& location, std::uint64_t expires_at_ms) {
  const fabric::Address word = geometry_.next_expiry(location.rank, location.stripe);
  const bool local = ep_.is_local(location.rank);
  if (!local && !next_expiry_posted_) next_expiry_ = ep_.load(fabric::rma, word);
  const std::uint64_t next = local ? ep_.load(fabric::cpu, word) : next_expiry_;
  if (next != kNoExpiry && next <= expires_at_ms) return;
  set_next_expiry(location.rank, location.stripe, expires_at_ms);
}

template <fabric::Endpoint E>
void VolumeCounters<E>::set_next_expiry(std::uint32_t rank, std::uint64_t stripe,
                                        std::uint64_t at_ms) {
  const fabric::Address word = geometry_.next_expiry(rank, stripe);
  if (ep_.is_local(rank)) {
    ep_.store(fabric::cpu, word, at_ms);
  } else {
    ep_.post_store(fabric::rma, word, at_ms);  // complete once the lock is released
  }
}

template <fabric::Endpoint E>
void VolumeCounters<E>::read_next_expiries(std::uint32_t rank, std::uint64_t stripe,
                                           std::span<std::uint64_t> out) {
  fabric::with_access(ep_, rank, [&](auto access) {
    std::array<fabric::Pending, kStripesAhead> pending;
    fabric::post_together(ep_, [&] {
      for (std::size_t i = 0; i < out.size(); ++i) {
        pending[i] = ep_.post_load(access, geometry_.next_expiry(rank, stripe + i));
      }
    });
    const fabric::Flushed flushed = ep_.flush(rank);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = pending[i].value(flushed);
  });
}

template <fabric::Endpoint E>
std::uint64_t VolumeCounters<E>::elements(std::uint32_t rank) {
  return fabric::with_access(ep_, rank, [&](auto access) {
    std::uint64_t total = 0;
    if constexpr (std::is_same_v<decltype(access), fabric::CpuClass>) {
      for (std::uint64_t stripe = 0; stripe < geometry_.stripes(); ++stripe) {
        total += ep_.load(access, geometry_.stripe_counters(rank, stripe) + kElementsOffset);
      }
    } else {
      std::array<fabric::Pending, kStripesAhead> pending;
      for (std::uint64_t from = 0; from < geometry_.stripes(); from += kStripesAhead) {
        const std::uint64_t n = std::min(kStripesAhead, geometry_.stripes() - from);
        fabric::post_together(ep_, [&] {
          for (std::uint64_t i = 0; i < n; ++i) {
            pending[i] =
                ep_.post_load(access, geometry_.stripe_counters(rank, from + i) + kElementsOffset);
          }
        });
        const fabric::Flushed flushed = ep_.flush(rank);
        for (std::uint64_t i = 0; i < n; ++i) total += pending[i].value(flushed);
      }
    }
    return total;
  });
}

/// The two words are not read at one instant: while they change the sum may be off, and is not
/// taken for less than none.
template <fabric::Endpoint E>
std::uint64_t VolumeCounters<E>::expiring(std::uint32_t rank) {
  return fabric::with_access(ep_, rank, [&](auto access) {
    const fabric::Address header = geometry_.header(rank);
    const fabric::Pending here = ep_.post_load(access, header + kExpiringHereOffset);
    const fabric::Pending far = ep_.post_load(access, header + kExpiringFarOffset);
    const fabric::Flushed flushed = ep_.flush(rank);
    return here.value(flushed) + far.value(flushed);
  });
}

template <fabric::Endpoint E>
VolumeCounts VolumeCounters<E>::counts(std::uint32_t rank) {
  VolumeCounts counts{.elements = elements(rank), .expiring = expiring(rank)};
  if (static_cast<std::int64_t>(counts.expiring) < 0) counts.expiring = 0;
  fabric::with_access(ep_, rank, [&](auto access) {
    const std::uint64_t noted = ep_.load(access, geometry_.header(rank) + kLongestChainOffset);
    counts.longest_chain_lines = std::max<std::uint64_t>(noted, 1);
  });
  return counts;
}

}  // namespace keyway::store
