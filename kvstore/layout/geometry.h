// Geometry: how a rank's memory budget becomes lock region, bucket table and heap.
//
// Every rank has the same geometry, so the address of any bucket, lock or block of any rank is
// arithmetic. All sizes are fixed when the store opens.
#pragma once

#include <cstdint>
#include <string_view>

#include "keyway/kvstore/layout/bucket.h"
#include "keyway/kvstore/layout/element.h"
#include "keyway/kvstore/layout/key_hash.h"
#include "keyway/kvstore/layout/size_class.h"
#include "keyway/locks/base/status.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/queue_node.h"
#include "keyway/locks/distributed/satellite.h"
#include "keyway/locks/distributed/stripe_lock.h"
#include "keyway/locks/fabric/segment.h"

namespace keyway::store {

inline constexpr std::uint64_t kDefaultMemoryBytes = 1ULL << 30;
inline constexpr std::uint64_t kMinMemoryBytes = 1ULL << 20;
inline constexpr std::uint32_t kDefaultStripes = 4096;
inline constexpr std::uint32_t kDefaultElementBytes = 128;
/// Entries of a bucket in use at the default load: 5.25 of 7.
inline constexpr double kDefaultLoad = 0.75;

/// The requested geometry. Zero means: a default.
struct GeometryOptions {
  std::uint64_t memory_bytes = kDefaultMemoryBytes;    // per rank, all included
  std::uint64_t element_bytes = kDefaultElementBytes;  // expected key + value, average
  std::uint64_t buckets = 0;                           // per rank
  std::uint32_t stripes = kDefaultStripes;             // per rank, at most; a power of two is best
  std::uint32_t agents_per_rank = fabric::kDefaultAgentsPerRank;
  std::uint32_t nodes_per_agent = locks::kDefaultNodesPerAgent;
  std::uint32_t lock_kinds = 1;  // among which a stripe's lock may change
  // Kinds that need words on every rank (LockTraits::satellites); they come first among the kinds.
  std::uint32_t satellite_kinds = 0;
  // Slots of each rank for calls to each other one (call_slots.h). With any, a rank has one more
  // agent, which serves the calls to it.
  std::uint32_t call_slots = 0;
  std::uint32_t ranks = 1;  // ranks of the job: satellites belong to the stripes of all of them
  // Elements have a proof, for sessions that do not reach all memory directly (element.h). Without,
  // an element has 12 B less, and no checksum is computed.
  bool proofs = true;
  // The secret of the hash of keys, the same on all ranks. A store for clients draws one
  // (hash_secret.h); this default is public, and makes simulations and tests repeatable.
  HashSecret hash_secret;
};

/// A stripe's place: a lock line of each kind and, on the next line, its counters.
///   word 0  elements in the stripe      words 1..5  samples of its acquisitions (stripe_monitor.h)
///   word 6  epoch of line versions      word 7      free
/// The words that name the active kinds, each beside a word of changes (K9), are a separate array,
/// four stripes to a line: switches and operations on several keys alone write to them, so every
/// reader keeps them cached. The words of next expiries (K7) are a separate array, too: a sweep
/// reads all of them ten times a second, and in the lines of counters they would be eight times the
/// memory.
inline constexpr std::uint64_t kStripeCountersBytes = fabric::kCacheLine;
inline constexpr std::uint64_t kStripeWordsBytes = 16;
inline constexpr std::uint64_t kElementsOffset = 0;
inline constexpr std::uint64_t kEpochOffset = 48;

/// Words of the volume header, which is also the line of the lock group (word 0: foMPI's master).
inline constexpr std::uint64_t kHeaderBytes = 1024;
inline constexpr std::uint64_t kFreshChunkOffset = 64;  // word: chunks handed out so far
// Two words, of which the sum counts the elements of the volume with an expiry: what agents of the
// owner's node have changed (class cpu), and the others (class rma).
inline constexpr std::uint64_t kExpiringHereOffset = 112;
inline constexpr std::uint64_t kExpiringFarOffset = 72;
inline constexpr std::uint64_t kCpuProbeOffset = 80;  // words for measuring costs (measure_costs.h)
inline constexpr std::uint64_t kRmaProbeOffset = 88;
inline constexpr std::uint64_t kLongestChainOffset = 96;  // word: the most lines of a chain; 0: 1
inline constexpr std::uint64_t kAloneOffset = 104;  // word: sessions that are alone (read_permit.h)
inline constexpr std::uint64_t kHintsOffset = 128;  // a word per class: chunk + 1 with room, or 0
/// The clock of the volume (expiry_clock.h): a separate line, because every operation on an element
/// with an expiry reads it, and it changes only now and then.
inline constexpr std::uint64_t kTimeOffset = 960;
inline constexpr std::uint64_t kClockOffset = 968;
static_assert(kHintsOffset + kClasses * 8 <= kTimeOffset && kClockOffset + 8 <= kHeaderBytes &&
              kTimeOffset % fabric::kCacheLine == 0);

/// Words of a chunk's bitmap: bit set means block leased or live. One cache line.
inline constexpr std::uint64_t kBitmapWords = kChunkBytes / kMinBlockBytes / 64;
inline constexpr std::uint64_t kBitmapBytes = kBitmapWords * 8;

/// Bytes of a slot for a request to a key's owner (call_message.h).
inline constexpr std::uint64_t kCallBytes = 1024;
/// Bytes of a slot for the answer: a line of words, and a value.
inline constexpr std::uint64_t kAnswerBytes = 1024;

/// The place where a scan continues in a rank's volume: the elements of a bucket with a
/// Geometry::cursor_tag() of `tag` or higher.
struct ScanPlace {
  std::uint64_t bucket = 0;
  std::uint64_t tag = 0;
};

class Geometry {
 public:
  /// Fails with a sentence when the budget is too small or an option is out of bounds.
  static Result<Geometry> plan(const GeometryOptions& options);

  std::uint64_t segment_bytes() const { return segment_bytes_; }
  std::uint64_t buckets() const { return buckets_; }
  std::uint64_t stripes() const { return stripes_; }
  std::uint32_t lock_kinds() const { return lock_kinds_; }
  /// Per rank: lock lines, counters, kinds' words, next expiries, and the satellites of all ranks'
  /// stripes.
  std::uint64_t lock_bytes() const { return table_ - stripe_region_; }
  std::uint64_t chunks() const { return chunks_; }
  std::uint64_t heap_bytes() const { return chunks_ * kChunkBytes; }
  const locks::NodeRegion& nodes() const { return nodes_; }

  /// Hash of a key, under the secret of this store.
  std::uint64_t hash_of(std::string_view key) const { return hash_key(hash_secret_, key); }
  /// How elements lie in memory. The secret of their checksums follows from that of the hash.
  const ElementFormat& elements() const { return elements_; }
  /// The same secret, for messages.
  SumSeed sum_seed() const { return elements_.seed; }
  /// Bucket of a hash, by its high bits.
  std::uint64_t bucket_of(std::uint64_t hash) const {
    return static_cast<std::uint64_t>((static_cast<Wide>(hash) * buckets_) >> 64);
  }
  std::uint64_t stripe_of(std::uint64_t bucket) const { return bucket >> stripe_shift_; }
  std::uint64_t stripe_begin(std::uint64_t stripe) const { return stripe << stripe_shift_; }
  /// The first bucket after a stripe.
  std::uint64_t stripe_end(std::uint64_t stripe) const {
    return std::min(buckets_, (stripe + 1) << stripe_shift_);
  }

  /// The high bits of a tag, as many as a cursor's 48 bits have room for beside the bucket: all 14
  /// for up to 2^34 buckets.
  std::uint64_t cursor_tag(std::uint64_t tag) const {
    return tag >> (EntryWord::kTagBits - cursor_tag_bits_);
  }
  std::uint64_t scan_offset(const ScanPlace& place) const {
    return place.bucket << cursor_tag_bits_ | place.tag;
  }
  /// A client may have made the offset up, so the bucket may be out of range.
  ScanPlace scan_place(std::uint64_t offset) const {
    return {offset >> cursor_tag_bits_, offset & ((1ULL << cursor_tag_bits_) - 1)};
  }

  fabric::Address header(std::uint32_t rank) const { return {rank, header_}; }
  fabric::Address stripe_line(std::uint32_t rank, std::uint64_t stripe) const {
    return {rank, stripe_region_ + stripe * stripe_bytes_};
  }
  fabric::Address stripe_counters(std::uint32_t rank, std::uint64_t stripe) const {
    return stripe_line(rank, stripe) + lock_kinds_ * locks::kLockLineBytes;
  }
  /// The word in which writers of this node count (K9 of session.h).
  fabric::Address changes(std::uint32_t rank, std::uint64_t stripe) const {
    return {rank, stripe_words_ + stripe * kStripeWordsBytes + 8};
  }
  locks::StripeSite stripe_site(std::uint32_t rank, std::uint64_t stripe) const {
    return {.word = {rank, stripe_words_ + stripe * kStripeWordsBytes},
            .first = {.line = stripe_line(rank, stripe),
                      .group = header(rank),
                      .satellites = satellites_of(rank, stripe)},
            .satellite_stride = locks::kMaxSatelliteBytes};
  }
  /// The lock of the first kind.
  locks::LockSite lock_site(std::uint32_t rank, std::uint64_t stripe) const {
    return stripe_site(rank, stripe).first;
  }
  /// The word of K7 (session.h).
  fabric::Address next_expiry(std::uint32_t rank, std::uint64_t stripe) const {
    return {rank, next_expiries_ + stripe * 8};
  }
  std::uint32_t call_slots() const { return call_slots_; }
  /// The slot for a request of rank `caller` to `owner`: kCallBytes.
  fabric::Address call_request(std::uint32_t owner, std::uint32_t caller,
                               std::uint32_t slot) const {
    return {owner, call_requests_ + (std::uint64_t{caller} * call_slots_ + slot) * kCallBytes};
  }
  /// The line for the answer of `owner`.
  fabric::Address call_answer(std::uint32_t caller, std::uint32_t owner, std::uint32_t slot) const {
    return {caller, call_answers_ + (std::uint64_t{owner} * call_slots_ + slot) * kAnswerBytes};
  }
  /// The word at `owner` that says for which call of a slot it is decided who makes the edit.
  fabric::Address call_claim(std::uint32_t owner, std::uint32_t caller, std::uint32_t slot) const {
    return {owner, call_claims_ + (std::uint64_t{caller} * call_slots_ + slot) * 8};
  }
  fabric::Address bucket(std::uint32_t rank, std::uint64_t index) const {
    return {rank, table_ + index * kBucketBytes};
  }
  fabric::Address chunk_state(std::uint32_t rank, std::uint64_t chunk) const {
    return {rank, chunk_states_ + chunk * 8};
  }
  fabric::Address chunk_bitmap(std::uint32_t rank, std::uint64_t chunk) const {
    return {rank, chunk_bitmaps_ + chunk * kBitmapBytes};
  }
  fabric::Address chunk(std::uint32_t rank, std::uint64_t index) const {
    return {rank, heap_ + index * kChunkBytes};
  }
  std::uint64_t chunk_of(std::uint64_t offset) const { return (offset - heap_) / kChunkBytes; }

 private:
  __extension__ using Wide = unsigned __int128;

  /// Every rank keeps satellites of every rank's stripes, at the same offset.
  std::uint64_t satellites_of(std::uint32_t rank, std::uint64_t stripe) const {
    if (satellite_kinds_ == 0) return 0;
    const std::uint64_t number = rank * stripes_ + stripe;
    return satellites_ + number * satellite_kinds_ * locks::kMaxSatelliteBytes;
  }

  HashSecret hash_secret_;
  ElementFormat elements_;
  std::uint64_t header_ = 0;
  locks::NodeRegion nodes_;
  std::uint64_t stripe_region_ = 0;
  std::uint64_t stripe_bytes_ = 0;
  std::uint64_t stripe_words_ = 0;
  std::uint64_t next_expiries_ = 0;
  std::uint64_t satellites_ = 0;
  std::uint64_t call_requests_ = 0;
  std::uint64_t call_answers_ = 0;
  std::uint64_t call_claims_ = 0;
  std::uint64_t table_ = 0;
  std::uint64_t chunk_states_ = 0;
  std::uint64_t chunk_bitmaps_ = 0;
  std::uint64_t heap_ = 0;
  std::uint64_t segment_bytes_ = 0;
  std::uint64_t buckets_ = 0;
  std::uint64_t stripes_ = 0;
  std::uint64_t chunks_ = 0;
  std::uint32_t stripe_shift_ = 0;
  std::uint32_t cursor_tag_bits_ = 0;
  std::uint32_t lock_kinds_ = 1;
  std::uint32_t satellite_kinds_ = 0;
  std::uint32_t call_slots_ = 0;
};

}  // namespace keyway::store
