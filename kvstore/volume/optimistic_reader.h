// OptimisticReader<E>: reads elements of other ranks without their locks.
//
// *What.* A read is *warm* if this process knows where the element was, and with which stamp: one
// message fetches the block. Otherwise it is *cold*: a message fetches the line, another one the
// element. What was fetched is accepted only if it proves that it was committed while it was read
// (K8 of session.h); else the key is read under the lock, by its owner or the caller. So are inline
// and absent keys, runs, overflow lines and elements with an expiry, always.
// *Thread safety.* One session's; the cache of addresses is the process's.
// *Invariants.*
//   OR1  An accepted element has the stamp that is known of it, or one that is not newer than the
//        line which led to it; it has no mark, it has the key, and its checksum matches.
//   OR2  Between a line and the element that it leads to, less than kColdNs pass: too little for
//        2^23 changes of a line, after which an old version would look new.
//   OR3  A read waits for a rank until its deadline. The endpoint then owns the buffer, which the
//        rank's answer will be written to. Reading ahead waits for a small part of that time.
//   OR4  Several elements are as they were at one instant if each was accepted, and then, once all
//        had been, its header was read again and found the same, without a mark. Every change of an
//        element changes its header, and kTogetherNs are too short for 2^16 of them, after which a
//        header could be the same again. So each stayed as it was between the two readings, and
//        the instant between them is the same for all. An operation on several keys marks all
//        before it changes one (K8), so the instant is not in the middle of it.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/kvstore/layout/bucket.h"
#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/layout/stamp.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/kvstore/volume/address_cache.h"
#include "keyway/kvstore/volume/element_proof.h"
#include "keyway/kvstore/volume/found.h"
#include "keyway/kvstore/volume/read_permit.h"
#include "keyway/locks/base/clear_and_shrink.h"
#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/gather.h"

namespace keyway::store {

inline constexpr std::uint64_t kColdNs = 100'000'000;

template <fabric::Endpoint E>
class OptimisticReader {
 public:
  /// Without a cache nothing is read without its lock. The cache outlives it. `timeout`: of a
  /// batch.
  OptimisticReader(E& ep, const Geometry& geometry, AddressCache* addresses,
                   std::chrono::nanoseconds timeout)
      : ep_(ep),
        geometry_(geometry),
        permit_(ep, geometry),
        addresses_(addresses),
        deadline_(Deadline::within(timeout)),
        deadline_ahead_(Deadline::within(timeout / kAheadPart)),
        owing_(ep.ranks()) {
    late_.reserve(3 * ep.ranks());  // twice for a batch, and once more when memory has ended
    asked_.reserve(ep.ranks());
  }
  OptimisticReader(const OptimisticReader&) = delete;
  OptimisticReader& operator=(const OptimisticReader&) = delete;

  /// The element of a remote key, valid until the next read; null: take the lock, unless
  /// is_late(rank). `until` has begun.
  const ElementView* read(const Location& location, std::string_view key, Deadline until) {
    late_.clear();
    if (addresses_ == nullptr) return nullptr;
    if (const auto accepted = take_ahead(location, key)) {
      if (*accepted) return &element_;
      ++counts_.refused;
      return nullptr;
    }
    if (!is_free(location.rank, until)) {
      late_.push_back(location.rank);
      return nullptr;
    }
    const auto known = addresses_->find(location.hash);
    const bool accepted = known ? warm(location, key, *known, until) : cold(location, key, until);
    if (!late_.empty()) return nullptr;
    ++(accepted ? (known ? counts_.warm : counts_.cold) : counts_.refused);
    return accepted ? &element_ : nullptr;
  }
  /// Reads several remote keys at once, and calls use(i, element) for those that are accepted: in
  /// one round trip those of which the places are known, in two the others. wanted(i) leaves keys
  /// out. The rest is for read().
  template <class Wanted, class Use>
  void read_several(std::span<const Location> locations, std::span<const std::string_view> keys,
                    Wanted&& wanted, Use&& use) {
    collect(locations, keys, wanted, 2,  // read() is as good for one
            deadline_.started(ep_.now_ns()),
            [&](const Several& key, std::span<const std::byte>) { use(key.of, element_); });
  }
  /// Reads those of several remote keys of which the places are known, in one round trip, and keeps
  /// the values for the next read() of each key. Calls has(i) for those that it has. If the session
  /// changes the key, it forgets the value, and forget_ahead() forgets all: until then the keys'
  /// bytes stay in place.
  template <class Wanted, class Has>
  void read_ahead(std::span<const Location> locations, std::span<const std::string_view> keys,
                  Wanted&& wanted, Has&& has);
  void forget_ahead() {
    ahead_.clear();
    clear_and_shrink(ahead_values_, kMaxValuesKept);
    clear_and_shrink(fetched_, kMaxValuesKept);  // what is still written to is not here (OR3)
  }
  /// The remote keys among these, all as they were at one instant (OR4), by two calls: the session
  /// locks the others in between. The first copies the values, which value_of() returns until the
  /// next call. False: take the locks, unless a rank is late.
  bool begin_together(std::span<const Location> locations, std::span<const std::string_view> keys,
                      Deadline until);
  bool end_together(Deadline until);
  std::string_view value_of(std::size_t i) const {
    const Taken& taken =
        *std::lower_bound(taken_.begin(), taken_.end(), i,
                          [](const Taken& each, std::size_t n) { return each.of < n; });
    return std::string_view(values_).substr(taken.begin, taken.bytes);
  }
  /// The owner has read the element, after read() has not.
  void read_by_owner() {
    if (addresses_ != nullptr) --counts_.refused;
    ++counts_.by_owners;
  }
  /// Whether the last read ended because this rank had not answered by its deadline.
  bool is_late(std::uint32_t rank) const {
    return !late_.empty() && std::find(late_.begin(), late_.end(), rank) != late_.end();
  }
  std::span<const std::uint32_t> late() const { return late_; }
  /// Where the element of a key is expected; empty if that is not known.
  EntryWord expected(const Location& location) const {
    const auto known = addresses_ == nullptr ? std::nullopt : addresses_->find(location.hash);
    return known ? known->entry : EntryWord();
  }
  /// Remembers where the element of a remote key is after a change, or that it is no longer where
  /// it was.
  void learn(const Location& location, const ElementPlace& place) {
    if (addresses_ == nullptr) return;
    drop_ahead(location);
    if (place.known() && may_be_block(geometry_, place.entry)) {
      addresses_->learn(location.hash, place);
    } else {
      addresses_->forget(location.hash);
    }
  }

  void shrink_buffers() { clear_and_shrink(values_, kMaxValuesKept); }
  const OptimisticReads& counts() const { return counts_; }
  ReadPermit<E>& permit() { return permit_; }

 private:
  // Torn: also, nobody may read without a lock now, or its rank is late.
  using Verdict = Proof;
  /// A read that meets a change of the element is tried again so often.
  static constexpr int kTries = 2;
  /// After a cold read that was refused, this many keys are read under their locks at once: many
  /// keys are absent, or inline.
  static constexpr std::uint32_t kColdRest = 16;
  /// The time for other ranks of a batch after one has not answered until the deadline.
  static constexpr std::chrono::milliseconds kGrace{10};
  static constexpr std::uint64_t kTogetherNs = 20'000'000;
  /// Reading ahead waits for one part of so many of a read's timeout: the read itself comes after.
  static constexpr int kAheadPart = 20;
  static constexpr std::size_t kMaxValuesKept = 64 << 10;

  bool warm(const Location& location, std::string_view key, const ElementPlace& known,
            Deadline until) {
    const auto is_known = [&](std::uint32_t stamp) { return stamp == known.stamp; };
    const Verdict verdict = fetch(location.rank, known.entry, key, is_known, until);
    if (verdict == Verdict::kRefused) addresses_->forget(location.hash);
    return verdict == Verdict::kAccepted;
  }

  bool cold(const Location& location, std::string_view key, Deadline until) {
    if (cold_rests_ > 0) {
      --cold_rests_;
      return false;
    }
    fetched_.resize(kBucketBytes);
    const std::uint64_t begun = ep_.now_ns();
    const auto asked = permit_.begin(location.rank);  // for the element
    ep_.post_read(fabric::rma, geometry_.bucket(location.rank, location.bucket),
                  std::span(fetched_));
    if (!permit_.end(asked, until).has_value()) {
      give_up(location.rank);
      return false;
    }
    std::memcpy(line_.words.data(), fetched_.data(), kBucketBytes);
    const auto not_newer = [&](std::uint32_t stamp) {
      return !stamp_is_newer(stamp, line_.version());
    };
    const EntryWord entry = line_.first_with_tag(tag_of(location.hash));
    if (may_be_block(geometry_, entry) &&
        fetch(location.rank, entry, key, not_newer, until) == Verdict::kAccepted &&
        ep_.now_ns() - begun < kColdNs) {  // OR2
      addresses_->learn(location.hash, {entry, element_.stamp});
      return true;
    }
    cold_rests_ = kColdRest;
    return false;
  }

  /// Fetches a block, and says whether it proves itself to be the element of the key.
  template <class Right>
  Verdict fetch(std::uint32_t rank, EntryWord entry, std::string_view key, Right&& right,
                Deadline until) {
    fetched_.resize(class_bytes(entry.size_class()));
    for (int i = 0; i < kTries; ++i) {
      counts_.repeated += i > 0;
      const auto asked = permit_.begin(rank);
      ep_.post_read(fabric::rma, {rank, entry.offset()}, std::span(fetched_));
      const std::optional<bool> permitted = permit_.end(asked, until);
      if (!permitted) {
        give_up(rank);
        return Verdict::kTorn;
      }
      if (!*permitted) {
        if (permit_.has(rank)) continue;  // RP3
        return Verdict::kTorn;
      }
      const Verdict verdict = judge(fetched_, key, right);
      if (verdict != Verdict::kTorn) return verdict;
    }
    return Verdict::kTorn;
  }

  void be_late(std::uint32_t rank) {
    late_.push_back(rank);
    owing_[rank] = true;
  }
  /// Whether a rank owes no answer, by the deadline: else it would get questions without end.
  bool is_free(std::uint32_t rank, Deadline until) {
    if (!owing_[rank]) return true;
    if (!ep_.flush_idle(rank, until)) return false;
    owing_[rank] = false;
    return true;
  }
  void give_up(std::uint32_t rank) {
    be_late(rank);
    give_up();
  }
  /// OR3: answers of ranks that are late are on their way to this buffer.
  void give_up() {
    std::shared_ptr<std::vector<std::byte>> buffer;
    try {
      buffer = std::make_shared<std::vector<std::byte>>(std::move(fetched_));
      for (const std::uint32_t rank : late_) ep_.keep(rank, buffer);
    } catch (const std::bad_alloc&) {
      // They have come before the buffer is used again, or freed.
      for (const std::uint32_t rank : late_) ep_.flush(rank);
      throw;
    }
  }

  /// OR1.
  template <class Right>
  Verdict judge(std::span<const std::byte> block, std::string_view key, Right&& right) {
    return prove_element(geometry_.elements(), block, key, right, element_);
  }

  /// One of several keys that are read at once.
  struct Several {
    std::size_t of = 0;  // index of the key
    fabric::Address from;
    std::size_t bytes = 0;
    ElementPlace known;  // its stamp; or of a cold read's element, the version of its line
    std::size_t at = 0;  // offset of its bytes in fetched_

    bool is_line() const { return !known.known(); }
  };

  /// An accepted element of several that are to be of one instant.
  struct Taken {
    std::size_t of = 0;
    fabric::Address from;
    ElementPlace known;
    std::array<std::byte, ElementFormat::kProvenBytes> header{};
    std::size_t begin = 0;  // its value, in values_
    std::size_t bytes = 0;
  };

  /// A key that was read ahead.
  struct Ahead {
    std::uint64_t hash = 0;
    std::string_view key;
    bool accepted = false;  // else it was refused
    std::size_t begin = 0;  // of its value in ahead_values_
    std::size_t bytes = 0;
  };
  /// If the key was read ahead: whether it was accepted, and then is element_. Once.
  std::optional<bool> take_ahead(const Location& location, std::string_view key) {
    if (ahead_.empty()) return std::nullopt;
    const auto found = std::find_if(ahead_.begin(), ahead_.end(), [&](const Ahead& each) {
      return each.hash == location.hash && each.key == key;
    });
    if (found == ahead_.end()) return std::nullopt;
    element_ = {};
    element_.key = found->key;
    element_.value = std::string_view(ahead_values_).substr(found->begin, found->bytes);
    element_.value_bytes = found->bytes;
    const bool accepted = found->accepted;
    ahead_.erase(found);
    return accepted;
  }
  void drop_ahead(const Location& location) {
    if (ahead_.empty()) return;
    std::erase_if(ahead_, [&](const Ahead& each) { return each.hash == location.hash; });
  }

  /// read_several(), for `least` wanted keys or more; calls accept(key, block) with element_.
  template <class Wanted, class Accept>
  void collect(std::span<const Location> locations, std::span<const std::string_view> keys,
               Wanted&& wanted, std::size_t least, Deadline until, Accept&& accept);
  /// Fetches what several_ says in one round trip, and calls judge_one(key, bytes, permitted) for
  /// the keys of each rank that has answered.
  template <class Judge>
  void fetch_several(Deadline until, Judge&& judge_one, bool idle = true);
  /// Judges the block at a known place, and forgets the place if the key is there no more.
  Verdict judge_known(const Several& block, std::span<const std::byte> bytes, std::uint64_t hash,
                      std::string_view key) {
    const auto is_known = [&](std::uint32_t stamp) { return stamp == block.known.stamp; };
    const Verdict verdict = judge(bytes, key, is_known);
    if (verdict == Verdict::kRefused) addresses_->forget(hash);
    return verdict;
  }
  Several block_of(std::size_t of, std::uint32_t rank, const ElementPlace& place) const {
    return {of, {rank, place.entry.offset()}, class_bytes(place.entry.size_class()), place};
  }

  E& ep_;
  const Geometry& geometry_;
  ReadPermit<E> permit_;
  AddressCache* addresses_;
  const Deadline deadline_;
  const Deadline deadline_ahead_;
  OptimisticReads counts_;
  std::uint32_t cold_rests_ = 0;
  Bucket line_;                     // of a cold read
  std::vector<std::byte> fetched_;  // a block, or several
  std::vector<Several> several_;
  std::vector<Several> behind_lines_;  // elements that lines of a batch have led to
  std::vector<fabric::Part> parts_;
  std::vector<Taken> taken_;
  std::string values_;
  std::vector<Ahead> ahead_;
  std::string ahead_values_;
  std::uint64_t together_begun_ns_ = 0;
  std::vector<typename ReadPermit<E>::Asked> asked_;
  std::vector<std::uint32_t> late_;  // ranks that the last read has waited for until its deadline
  std::vector<char> owing_;          // by rank: it was late, and may not have answered since
  ElementView element_;              // in it
};

}  // namespace keyway::store
