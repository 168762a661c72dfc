#include "keyway/kvstore/volume/full_heap.h"

#include <catch2/catch.hpp>
#include <cstdint>

using keyway::store::FullHeap;

TEST_CASE("full heap: what a search has not found is lacking for a while") {
  constexpr std::uint64_t kNow = 1'000'000'000;
  FullHeap full;
  CHECK_FALSE(full.lacks_class(3, 0));
  CHECK_FALSE(full.lacks_run(1000, 0));

  full.note_class(3, kNow);
  full.note_run(8, kNow + 1);
  CHECK(full.lacks_class(3, kNow));
  CHECK_FALSE(full.lacks_class(4, kNow));
  CHECK(full.lacks_run(8, kNow + 1));
  CHECK(full.lacks_run(9, kNow + 1));
  CHECK_FALSE(full.lacks_run(7, kNow + 1));

  // Each for its own time, whatever is noted later.
  full.note_class(4, kNow + FullHeap::kRememberNs - 1);
  CHECK(full.lacks_class(3, kNow + FullHeap::kRememberNs - 1));
  CHECK_FALSE(full.lacks_class(3, kNow + FullHeap::kRememberNs));
  CHECK(full.lacks_run(8, kNow + FullHeap::kRememberNs));
  CHECK_FALSE(full.lacks_run(8, kNow + FullHeap::kRememberNs + 1));
  CHECK(full.lacks_class(4, kNow + FullHeap::kRememberNs));
}

TEST_CASE("full heap: what may have gone back is searched for") {
  FullHeap full;
  full.note_class(0, 0);
  full.note_run(2, 0);
  full.forget();
  CHECK_FALSE(full.lacks_class(0, 0));
  CHECK_FALSE(full.lacks_run(2, 0));
  full.note_class(0, 0);
  CHECK(full.lacks_class(0, 0));
  CHECK_FALSE(full.lacks_run(2, 0));
}
