#include "keyway/kvstore/layout/geometry.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "keyway/kvstore/layout/element.h"

namespace keyway::store {
namespace {

/// Fewest chunks that make a heap worth having: one for overflow buckets, a few for elements.
constexpr std::uint64_t kMinChunks = 8;
constexpr std::uint64_t kMinTableBytes = 16 * 1024;

constexpr std::uint64_t kPerChunk = kChunkBytes + kBitmapBytes + 8;
constexpr std::uint64_t kAlignSlack = 5 * fabric::kCacheLine;
// Entries hold offset / 8 in 40 bits.
constexpr std::uint64_t kMaxMemoryBytes = (EntryWord::kOffsetMask + 1) * 8;
// A scan's cursor is an Address: the bits of its offset hold bucket and tag.
constexpr auto kCursorBits =
    static_cast<std::uint32_t>(std::bit_width(fabric::Address::kMaxOffset));
static_assert(std::bit_width(kMaxMemoryBytes / kBucketBytes) + 8 <= kCursorBits,
              "a cursor tells elements of one bucket apart");

std::uint32_t cursor_tag_bits(std::uint64_t buckets) {
  const auto of_bucket = static_cast<std::uint32_t>(std::bit_width(buckets - 1));
  return std::min(EntryWord::kTagBits, kCursorBits - of_bucket);
}

/// The bytes of a rank for each of its stripes: its lines, its words, and its place among the
/// satellites; this rank keeps satellites for every rank's stripes.
std::uint64_t bytes_per_stripe(const GeometryOptions& options) {
  return options.lock_kinds * locks::kLockLineBytes + kStripeCountersBytes + kStripeWordsBytes + 8 +
         std::uint64_t{options.ranks} * options.satellite_kinds * locks::kMaxSatelliteBytes;
}

// Buckets such that table and heap fill up together when elements have the expected size. `bytes`
// are for them and for their stripes, of which there are no more than buckets.
std::uint64_t default_buckets(std::uint64_t bytes, const GeometryOptions& options) {
  const std::uint64_t stripes = options.stripes;
  const std::uint64_t per_stripe = bytes_per_stripe(options);
  std::uint64_t element = options.element_bytes;
  element = std::min(element, kMaxKeyBytes + kMaxValueBytes);
  const bool inlined = element <= kInlineBytes;
  const double entries = kDefaultLoad * (inlined ? kEntryWords / kInlineEntryWords : kEntryWords);
  const ElementFormat format{.proof = options.proofs};
  const std::uint32_t heap_class = class_for(format.bytes_of(element, 0, false));
  const std::uint64_t block = heap_class < kClasses ? class_bytes(heap_class) : element;
  const double heap_share = inlined ? 8.0 : static_cast<double>(block);
  const auto fit = [&](std::uint64_t budget, std::uint64_t bytes_per_bucket) {
    const double each = heap_share * entries + static_cast<double>(bytes_per_bucket);
    return std::max<std::uint64_t>(1,
                                   static_cast<std::uint64_t>(static_cast<double>(budget) / each));
  };
  const std::uint64_t with_own_stripe = fit(bytes, kBucketBytes + per_stripe);
  return with_own_stripe <= stripes ? with_own_stripe
                                    : fit(bytes - stripes * per_stripe, kBucketBytes);
}

/// Agents of a rank beyond those of its sessions.
std::uint32_t services(const GeometryOptions& options) { return options.call_slots > 0 ? 1 : 0; }

Status invalid_argument(std::string message) {
  return {Code::kInvalidArgument, std::move(message)};
}

// Before any arithmetic, so that no product of sizes can wrap around.
Status check_bounds(const GeometryOptions& options) {
  if (options.memory_bytes < kMinMemoryBytes) {
    return invalid_argument(
        fmt::format("memory={} bytes per rank is too little; give at least {} (1 MiB)",
                    options.memory_bytes, kMinMemoryBytes));
  }
  if (options.memory_bytes > kMaxMemoryBytes) {
    return invalid_argument(
        fmt::format("memory={} bytes per rank is too much; give at most {} (8 TiB)",
                    options.memory_bytes, kMaxMemoryBytes));
  }
  if (options.stripes == 0 || options.element_bytes == 0 || options.agents_per_rank == 0 ||
      options.nodes_per_agent == 0) {
    return invalid_argument(
        "stripes, element_bytes, agents and nodes_per_agent must be at least 1");
  }
  if (options.lock_kinds == 0 || options.lock_kinds > locks::kMaxKinds ||
      options.satellite_kinds > options.lock_kinds || options.ranks == 0) {
    return invalid_argument("a stripe needs a lock kind, and a store a rank");
  }
  // Locks may take a quarter of the memory: then table and heap are still worth having.
  const std::uint64_t most_stripes = options.memory_bytes / 4 / bytes_per_stripe(options);
  if (options.stripes > most_stripes && options.satellite_kinds != 0) {
    return invalid_argument(fmt::format(
        "stripes={} per rank are too many for {} ranks and memory={}: a lock of theirs has words "
        "on every rank; ask for at most {} stripes, or for a lock kind without such words",
        options.stripes, options.ranks, options.memory_bytes, most_stripes));
  }
  if (Status status = fabric::check_agents(options.ranks, options.agents_per_rank); !status.ok()) {
    return status;
  }
  const std::uint64_t agents = std::uint64_t{options.agents_per_rank} + services(options);
  if (options.nodes_per_agent > locks::kMaxNodesPerRank / agents) {
    return invalid_argument(fmt::format(
        "nodes_per_agent={} are too many for {} agents; ask for at most {}",
        options.nodes_per_agent, options.agents_per_rank, locks::kMaxNodesPerRank / agents));
  }
  if (options.buckets > kMaxMemoryBytes / kBucketBytes) {
    return invalid_argument(fmt::format("buckets={} per rank are too many; ask for at most {}",
                                        options.buckets, kMaxMemoryBytes / kBucketBytes));
  }
  return {};
}

}  // namespace

Result<Geometry> Geometry::plan(const GeometryOptions& options) {
  if (auto status = check_bounds(options); !status.ok()) return status;
  Geometry made;
  made.hash_secret_ = options.hash_secret;
  // Under a secret that no key is hashed with, so that no key's hash can be this seed.
  const HashSecret other{~options.hash_secret.low, options.hash_secret.high};
  made.elements_ = {.proof = options.proofs, .seed = SumSeed{hash_key(other, "checksum")}};
  fabric::SegmentLayout layout;
  made.header_ = layout.reserve(kHeaderBytes);
  made.nodes_ = locks::NodeRegion::reserve(layout, options.agents_per_rank + services(options),
                                           options.nodes_per_agent);
  made.call_slots_ = options.call_slots;
  const std::uint64_t call_slots = std::uint64_t{options.ranks} * options.call_slots;
  made.call_requests_ = layout.reserve(call_slots * kCallBytes);
  made.call_answers_ = layout.reserve(call_slots * kAnswerBytes);
  made.call_claims_ = layout.reserve(call_slots * sizeof(std::uint64_t));
  const std::uint64_t fixed = layout.size();
  const auto too_small = [&](std::uint64_t need) {
    return invalid_argument(
        fmt::format("memory={} bytes per rank is too little for {} agents with {} queue "
                    "nodes each, {} buckets and a heap; give at least {}",
                    options.memory_bytes, options.agents_per_rank, options.nodes_per_agent,
                    made.buckets_, need));
  };
  const std::uint64_t least = fixed + kAlignSlack + kMinChunks * kPerChunk;
  if (least + kMinTableBytes > options.memory_bytes) return too_small(least + kMinTableBytes);
  made.buckets_ = options.buckets != 0 ? options.buckets
                                       : default_buckets(options.memory_bytes - least, options);
  made.cursor_tag_bits_ = cursor_tag_bits(made.buckets_);
  // A stripe is a power of two of buckets, so that finding it is a shift.
  const std::uint64_t per_stripe = (made.buckets_ + options.stripes - 1) / options.stripes;
  made.stripe_shift_ = static_cast<std::uint32_t>(std::bit_width(per_stripe - 1));
  made.stripes_ = made.stripe_of(made.buckets_ - 1) + 1;
  made.lock_kinds_ = options.lock_kinds;
  made.satellite_kinds_ = options.satellite_kinds;
  made.stripe_bytes_ = options.lock_kinds * locks::kLockLineBytes + kStripeCountersBytes;
  made.stripe_region_ = layout.reserve(made.stripes_ * made.stripe_bytes_);
  made.stripe_words_ = layout.reserve(made.stripes_ * kStripeWordsBytes);
  made.next_expiries_ = layout.reserve(made.stripes_ * 8);
  made.satellites_ = layout.reserve(options.ranks * made.stripes_ * options.satellite_kinds *
                                    locks::kMaxSatelliteBytes);
  made.table_ = layout.reserve(made.buckets_ * kBucketBytes);

  const std::uint64_t used = layout.size() + kAlignSlack;
  if (used + kMinChunks * kPerChunk > options.memory_bytes) {
    return too_small(used + kMinChunks * kPerChunk);
  }
  made.chunks_ = (options.memory_bytes - used) / kPerChunk;
  made.chunk_states_ = layout.reserve(made.chunks_ * 8);
  made.chunk_bitmaps_ = layout.reserve(made.chunks_ * kBitmapBytes);
  made.heap_ = layout.reserve(made.heap_bytes());
  made.segment_bytes_ = layout.size();
  KW_CHECK(made.segment_bytes_ <= options.memory_bytes);
  return made;
}

}  // namespace keyway::store
