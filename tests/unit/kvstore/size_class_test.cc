// Size classes: each byte count has a class that holds it and the one below does not.
#include <catch2/catch.hpp>

#include "keyway/kvstore/layout/size_class.h"

using namespace keyway::store;

TEST_CASE("size class: every byte count has the smallest block that holds it") {
  for (std::uint64_t bytes = 1; bytes <= kChunkBytes; ++bytes) {
    const std::uint32_t c = class_for(bytes);
    CAPTURE(bytes, c);
    REQUIRE(c < kClasses);
    REQUIRE(class_bytes(c) >= bytes);
    if (c > 0) REQUIRE(class_bytes(c - 1) < bytes);
  }
}

TEST_CASE("size class: what needs more than a chunk takes a run") {
  CHECK(class_for(kChunkBytes) == kClasses - 1);
  CHECK(class_for(kChunkBytes + 1) == kRunClass);
  CHECK(class_for(512ULL << 20) == kRunClass);
  CHECK(run_chunks(kChunkBytes + 1) == 2);
  CHECK(run_chunks(2 * kChunkBytes) == 2);
  CHECK(run_chunks(2 * kChunkBytes + 1) == 3);
}

TEST_CASE("size class: classes grow, and their blocks are aligned to words") {
  CHECK(class_bytes(0) == kMinBlockBytes);
  for (std::uint32_t c = 0; c < kClasses; ++c) {
    CAPTURE(c);
    CHECK(class_bytes(c) % 8 == 0);
    CHECK(class_for(class_bytes(c)) == c);
    if (c > 0) CHECK(class_bytes(c) > class_bytes(c - 1));
  }
}

TEST_CASE("size class: small elements waste less than a step") {
  for (std::uint64_t bytes = kMinBlockBytes; bytes <= kFineLimitBytes; ++bytes) {
    CAPTURE(bytes);
    CHECK(class_bytes(class_for(bytes)) - bytes < kFineStepBytes);
  }
}

TEST_CASE("size class: the blocks of a chunk add up to the chunk, whatever its class") {
  for (std::uint32_t c = 0; c < kClasses; ++c) {
    CAPTURE(c);
    const std::uint32_t capacity = class_capacity(c);
    REQUIRE(capacity >= 1);
    CHECK(capacity * class_bytes(c) <= kChunkBytes);
    CHECK((capacity + 1) * class_bytes(c) > kChunkBytes);
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < capacity; ++i) {
      CHECK(block_span(c, i) >= class_bytes(c));
      sum += block_span(c, i);
    }
    CHECK(sum == kChunkBytes);
  }
}
