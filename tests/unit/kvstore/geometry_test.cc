// Geometry: nothing overlaps, everything fits its budget, and a refusal says what would do.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/layout/key_hash.h"
#include "keyway/locks/base/rng.h"

using namespace keyway;
using namespace keyway::store;

namespace {

using Span = std::pair<std::uint64_t, std::uint64_t>;  // begin, end

void check_apart(const GeometryOptions& options) {
  const auto made = Geometry::plan(options);
  INFO(made.status().message());
  REQUIRE(made.ok());
  const Geometry& g = *made;
  std::vector<Span> spans;
  const auto add = [&](fabric::Address at, std::uint64_t bytes) {
    spans.emplace_back(at.offset(), at.offset() + bytes);
  };
  add(g.header(0), kHeaderBytes);
  const fabric::AgentId last{0, options.agents_per_rank - 1};
  const auto first_node = g.nodes().node({0, 0}, 0);
  add(first_node, g.nodes().node(last, options.nodes_per_agent - 1).offset() + locks::kNodeBytes -
                      first_node.offset());
  for (std::uint64_t i = 0; i < g.stripes(); ++i) {
    const locks::StripeSite site = g.stripe_site(0, i);
    for (std::uint32_t kind = 0; kind < options.lock_kinds; ++kind) {
      const locks::LockSite lock = site.of(static_cast<locks::KindIndex>(kind));
      add(lock.line, locks::kLockLineBytes);
      for (std::uint32_t rank = 0; kind < options.satellite_kinds && rank < options.ranks; ++rank) {
        const auto of_rank = g.stripe_site(rank, i).of(static_cast<locks::KindIndex>(kind));
        add({0, of_rank.satellites}, locks::kMaxSatelliteBytes);
      }
    }
    add(g.stripe_counters(0, i), kStripeCountersBytes);
    add(site.word, 8);
    add(g.changes(0, i), 8);
    add(g.next_expiry(0, i), 8);
  }
  for (std::uint64_t i = 0; i < g.buckets(); ++i) add(g.bucket(0, i), kBucketBytes);
  for (std::uint64_t i = 0; i < g.chunks(); ++i) {
    add(g.chunk_state(0, i), 8);
    add(g.chunk_bitmap(0, i), kBitmapBytes);
    add(g.chunk(0, i), kChunkBytes);
  }
  std::sort(spans.begin(), spans.end());
  REQUIRE(spans.front().first >= fabric::kReservedBytes);
  for (std::size_t i = 1; i < spans.size(); ++i) REQUIRE(spans[i - 1].second <= spans[i].first);
  CHECK(spans.back().second <= g.segment_bytes());
  CHECK(g.segment_bytes() <= options.memory_bytes);
  for (std::uint64_t i = 0; i < g.stripes(); ++i) {
    REQUIRE(g.stripe_line(0, i).offset() % fabric::kCacheLine == 0);
  }
  REQUIRE(g.bucket(0, 0).offset() % kBucketBytes == 0);
  REQUIRE(g.chunk(0, 0).offset() % fabric::kCacheLine == 0);
}

}  // namespace

TEST_CASE("geometry: header, nodes, locks, table, bitmaps and heap lie apart") {
  check_apart({.memory_bytes = 4 << 20});
  check_apart({.memory_bytes = 8 << 20, .buckets = 1});
  check_apart({.memory_bytes = 8 << 20, .lock_kinds = 3});
  check_apart(
      {.memory_bytes = 8 << 20, .stripes = 64, .lock_kinds = 3, .satellite_kinds = 2, .ranks = 16});
  check_apart({.memory_bytes = 8 << 20, .buckets = 1000, .stripes = 7});
  check_apart({.memory_bytes = 8 << 20, .element_bytes = 16});
  check_apart({.memory_bytes = (8 << 20) + 12345, .element_bytes = 100'000, .agents_per_rank = 3});
  check_apart({.memory_bytes = kMinMemoryBytes, .agents_per_rank = 4, .nodes_per_agent = 16});
}

TEST_CASE("geometry: every rank's addresses are alike") {
  const Geometry g = *Geometry::plan({.memory_bytes = 4 << 20});
  CHECK(g.bucket(3, 5).rank() == 3);
  CHECK(g.bucket(3, 5).offset() == g.bucket(0, 5).offset());
  CHECK(g.lock_site(2, 9).line == g.stripe_line(2, 9));
  CHECK(g.lock_site(2, 9).group == g.header(2));
}

TEST_CASE("geometry: words on every rank that do not fit are refused, and fewer stripes do") {
  GeometryOptions options{.memory_bytes = 64 << 20, .satellite_kinds = 1, .ranks = 1024};
  const auto refused = Geometry::plan(options);
  CHECK(refused.code() == Code::kInvalidArgument);
  const std::string message(refused.status().message());
  const auto at = message.find("at most ");
  REQUIRE(at != std::string::npos);
  options.stripes = static_cast<std::uint32_t>(std::stoul(message.substr(at + 8)));
  CHECK(options.stripes >= 64);
  CHECK(Geometry::plan(options).ok());
}

TEST_CASE("geometry: buckets follow the hash in order, stripes the buckets") {
  for (const std::uint64_t buckets : {1ULL, 2ULL, 3ULL, 1000ULL, 4096ULL, 5000ULL}) {
    for (const std::uint32_t stripes : {1u, 2u, 7u, 64u, 4096u}) {
      const Geometry g =
          *Geometry::plan({.memory_bytes = 8 << 20, .buckets = buckets, .stripes = stripes});
      CAPTURE(buckets, stripes);
      CHECK(g.buckets() == buckets);
      CHECK(g.stripes() <= std::min<std::uint64_t>(stripes, buckets));
      CHECK(g.bucket_of(0) == 0);
      CHECK(g.bucket_of(~0ULL) == buckets - 1);
      std::uint64_t next = 0;
      for (std::uint64_t stripe = 0; stripe < g.stripes(); ++stripe) {
        REQUIRE(g.stripe_end(stripe) > next);  // no stripe is empty
        for (; next < g.stripe_end(stripe); ++next) REQUIRE(g.stripe_of(next) == stripe);
      }
      CHECK(next == buckets);
    }
  }
  const Geometry g = *Geometry::plan({.memory_bytes = 8 << 20, .buckets = 1000});
  Rng rng(3);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t a = rng(), b = rng();
    CHECK((a <= b) == (g.bucket_of(a) <= g.bucket_of(b) && (a <= b)));
    CHECK(g.bucket_of(std::min(a, b)) <= g.bucket_of(std::max(a, b)));
  }
}

TEST_CASE("geometry: the hash of a key depends on the secret of the store") {
  const HashSecret secrets[] = {{}, {1, 0}, {0, 1}, {1, 1}};
  std::set<std::uint64_t> hashes;
  for (const HashSecret& secret : secrets) {
    const auto made = Geometry::plan({.memory_bytes = 8 << 20, .hash_secret = secret});
    REQUIRE(made.ok());
    CHECK(made->hash_of("a key") == hash_key(secret, "a key"));
    hashes.insert(made->hash_of("a key"));
  }
  CHECK(hashes.size() == std::size(secrets));
}

TEST_CASE("geometry: the chunk of an offset is the one that it lies in") {
  const Geometry g = *Geometry::plan({.memory_bytes = 4 << 20});
  for (const std::uint64_t chunk : {std::uint64_t{0}, std::uint64_t{1}, g.chunks() - 1}) {
    CHECK(g.chunk_of(g.chunk(0, chunk).offset()) == chunk);
    CHECK(g.chunk_of(g.chunk(0, chunk).offset() + kChunkBytes - 1) == chunk);
  }
}

TEST_CASE("geometry: at the default load table and heap fill up together") {
  for (const bool proofs : {true, false}) {
    const Geometry g =
        *Geometry::plan({.memory_bytes = 1 << 30, .element_bytes = 116, .proofs = proofs});
    const std::uint64_t block = class_bytes(class_for(116 + (proofs ? 20 : 8)));
    const double elements = static_cast<double>(g.heap_bytes()) / static_cast<double>(block);
    const double load = elements / static_cast<double>(g.buckets() * kEntryWords);
    CHECK(load > 0.9 * kDefaultLoad);
    CHECK(load < 1.1 * kDefaultLoad);
  }
}

TEST_CASE("geometry: a budget that is too small is refused with one that is not") {
  for (GeometryOptions options :
       {GeometryOptions{.memory_bytes = 0}, GeometryOptions{.memory_bytes = kMinMemoryBytes},
        GeometryOptions{.memory_bytes = 2 << 20, .element_bytes = 16},
        GeometryOptions{.memory_bytes = 2 << 20, .element_bytes = 1},
        GeometryOptions{.memory_bytes = 2 << 20, .buckets = 1'000'000},
        GeometryOptions{.memory_bytes = 2 << 20, .stripes = 1'000'000},
        GeometryOptions{.memory_bytes = 2 << 20, .agents_per_rank = 4096}}) {
    for (int advice = 0; advice < 3; ++advice) {
      const auto made = Geometry::plan(options);
      if (made.ok()) break;
      CHECK(made.code() == Code::kInvalidArgument);
      const std::string message(made.status().message());
      CAPTURE(message);
      REQUIRE(advice < 2);  // its advice, or at most the advice on the advice, must do
      const auto at = message.rfind("at least ");
      REQUIRE(at != std::string::npos);
      options.memory_bytes = std::stoull(message.substr(at + 9));
    }
  }
}

TEST_CASE("geometry: options out of bounds are refused, not wrapped around") {
  constexpr auto kHuge = std::numeric_limits<std::uint64_t>::max();
  constexpr auto kHuge32 = std::numeric_limits<std::uint32_t>::max();
  const auto refused = [](const GeometryOptions& options) {
    const auto made = Geometry::plan(options);
    return !made.ok() && made.code() == Code::kInvalidArgument &&
           made.status().message().size() > 20;
  };
  CHECK(refused({.stripes = 0}));
  CHECK(refused({.element_bytes = 0}));
  CHECK(refused({.agents_per_rank = 0}));
  CHECK(refused({.nodes_per_agent = 0}));
  CHECK(refused({.agents_per_rank = 1024, .nodes_per_agent = 1u << 14}));  // 2^24 nodes
  CHECK(refused({.buckets = 1ULL << 58}));                                 // times 64 bytes is 2^64
  CHECK(refused({.buckets = kHuge}));
  CHECK(refused({.memory_bytes = kHuge}));
  CHECK(refused({.agents_per_rank = 1u << 31, .nodes_per_agent = 1u << 31}));
  CHECK(refused({.agents_per_rank = kHuge32, .nodes_per_agent = kHuge32}));
  CHECK(Geometry::plan({.element_bytes = kHuge}).ok());  // only a hint
}

TEST_CASE("geometry: a scan's cursor has bucket and tag, whatever the table's size") {
  // Memory, buckets, and the number of tag bits that fit into a cursor: for the largest table, 11
  // of 14.
  const std::vector<std::tuple<std::uint64_t, std::uint64_t, int>> shapes = {
      {4ULL << 20, 1, 14},          {4ULL << 20, 1000, 14},
      {2ULL << 40, 1ULL << 34, 14}, {8ULL << 40, (1ULL << 36) - 1, 12},
      {8ULL << 40, 1ULL << 36, 12}, {8ULL << 40, (1ULL << 37) - (1ULL << 30), 11}};
  for (const auto& [memory, buckets, bits] : shapes) {
    CAPTURE(memory, buckets);
    const auto made = Geometry::plan({.memory_bytes = memory, .buckets = buckets});
    INFO(made.status().message());
    REQUIRE(made.ok());
    const std::uint64_t last_tag = (1ULL << bits) - 1;
    CHECK(made->cursor_tag(EntryWord::kTagMask) == last_tag);
    std::uint64_t next = 0;  // cursors grow in the order of the scan
    for (const std::uint64_t bucket : std::set<std::uint64_t>{0, buckets / 2, buckets - 1}) {
      for (const std::uint64_t tag : {std::uint64_t{0}, std::uint64_t{1}, last_tag}) {
        const std::uint64_t offset = made->scan_offset({bucket, tag});
        CHECK(offset <= fabric::Address::kMaxOffset);
        CHECK(offset >= next);
        next = offset + 1;
        CHECK(made->scan_place(offset).bucket == bucket);
        CHECK(made->scan_place(offset).tag == tag);
      }
    }
    CHECK(made->scan_place(made->scan_offset({buckets, 0})).bucket == buckets);
  }
}
