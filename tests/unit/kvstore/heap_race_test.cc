// Races for chunks. The test chooses the winner.
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "heap_fixture.h"
#include "keyway/kvstore/volume/heap_impl.h"

using namespace keyway;
using namespace keyway::test;
using store::kChunkBytes;

namespace {

/// Calls `before` ahead of each compare-and-swap.
class InterruptedEndpoint : public fabric::ShmEndpoint {
 public:
  InterruptedEndpoint(fabric::ShmEndpoint inner, std::function<void(fabric::Address)> before)
      : fabric::ShmEndpoint(std::move(inner)), before_(std::move(before)) {}

  template <class Class>
  std::uint64_t compare_swap(Class c, fabric::Address a, std::uint64_t expected,
                             std::uint64_t desired) {
    before_(a);
    return fabric::ShmEndpoint::compare_swap(c, a, expected, desired);
  }
  template <class Class>
  fabric::Pending post_compare_swap(Class c, fabric::Address a, std::uint64_t expected,
                                    std::uint64_t desired) {
    before_(a);
    return fabric::ShmEndpoint::post_compare_swap(c, a, expected, desired);
  }

 private:
  std::function<void(fabric::Address)> before_;
};
static_assert(fabric::Endpoint<InterruptedEndpoint>);

}  // namespace

TEST_CASE("heap: the loser of a race for the last chunk of a run releases the others") {
  for (const std::uint64_t chunks : {4, 150}) {  // claimed in one round trip, or in several
    CAPTURE(chunks);
    HeapFixture fixture(4 << 20);
    auto filler = fixture.agent();
    auto rival = fixture.agent();
    std::vector<store::Block> all;
    while (const auto block = filler->heap.allocate(0, kChunkBytes + 1)) all.push_back(*block);
    REQUIRE(all.size() > chunks / 2 + 1);
    filler->heap.return_all();
    // The rival takes the last chunk of the gap after the loser has claimed others.
    const std::uint64_t gap = fixture.geometry.chunk_of(all[1].offset);
    for (std::uint64_t i = 0; i < chunks / 2; ++i) {
      REQUIRE(fixture.geometry.chunk_of(all[1 + i].offset) == gap + 2 * i);
      filler->heap.free(0, all[1 + i], kChunkBytes + 1);
    }
    const std::uint64_t last = gap + chunks - 1;
    const std::uint64_t free_before = filler->heap.report(0).free_bytes;
    std::optional<store::Block> taken;
    InterruptedEndpoint ep(std::move(*fixture.fabric.endpoint(0)), [&](fabric::Address at) {
      if (taken || at != fixture.geometry.chunk_state(0, last)) return;
      // A chunk's worth: the search finds it free, and the others of the gap taken.
      taken = rival->heap.allocate(0, kChunkBytes);
    });
    store::Heap<InterruptedEndpoint> loser(ep, fixture.geometry);
    CHECK_FALSE(loser.allocate(0, chunks * kChunkBytes));
    REQUIRE(taken);
    CHECK(fixture.geometry.chunk_of(taken->offset) == last);
    CHECK(filler->heap.report(0).free_bytes == free_before - kChunkBytes);
    fixture.check_at_rest(*filler);
  }
}
