// K3, K4, H5: a session runs out of memory at any place, on a fabric with late posted operations.
#include "far_store.h"
#include "moves.h"
#include "tests/conformance/deferred_fabric.h"
#include "tests/store/deferred_session.h"
#include "walks.h"
#include "writes.h"

using namespace keyway;
using namespace keyway::test;
using conformance::DeferredFabric;

namespace {

using LazyStore = FarStore<DeferredFabric>;

DeferredFabric make_fabric(std::uint64_t segment_bytes, std::uint32_t agents) {
  DeferredFabric::Options options;
  options.ranks = LazyStore::kRanks;
  options.segment_bytes = segment_bytes;
  options.agents_per_rank = agents;
  return std::move(*DeferredFabric::create(options));
}

}  // namespace

TEST_CASE("no memory, far: a clear that fails within a bucket frees only what has left it") {
  LazyStore store(make_fabric);
  check_walks(store, Walked::By::kClear, [](auto& session) { return session.clear_rank(1); });
}

TEST_CASE("memory, far: a clear does not allocate for each bucket") {
  constexpr std::uint64_t kBuckets = 512;
  LazyStore store(make_fabric, {.buckets = kBuckets});
  check_walk_of_many_buckets(store, kBuckets);
}

TEST_CASE("no memory, far: and so does a sweep") {
  LazyStore store(make_fabric);
  check_walks(store, Walked::By::kSweep,
              [](auto& session) { return session.sweep_expired(1).status(); });
}

// Behind a long chain of rank 1, so that a session's copy of it grows as well.

TEST_CASE("no memory, far: put_all does all of it or nothing") {
  LazyStore store(make_fabric);
  store.fill(1);
  check_put_all(store);
  check_put_all_twice(store);
  check_put_all_of_a_long_key(store);
  check_put_all_present(store);
}

TEST_CASE("no memory, far: erase_all does all of it or nothing") {
  LazyStore store(make_fabric);
  store.fill(1);
  check_erase_all(store);
}

TEST_CASE("no memory, far: erase_all of a long key that shares its tag with a run") {
  LazyStore store(make_fabric);
  check_erase_all_of_a_twin(store);
}

TEST_CASE("no memory, far: a transaction does all of it or nothing") {
  LazyStore store(make_fabric);
  store.fill(1);
  check_transact(store);
}

TEST_CASE("no memory, far: a write of one key is done or not done") {
  LazyStore store(make_fabric);
  check_puts(store);
}

TEST_CASE("no memory, far: a write for which elements are moved is done or not done") {
  check_move_without_memory<LazyStore>(make_fabric);
}

TEST_CASE("no memory: a draft of an absent element stays absent") {
  store::ElementDraft draft;
  const std::string bytes(1000, 'b');
  const auto decision = store::Decision::overwrite(0, bytes, store::kNoExpiry);
  bool thrown = false;
  try {
    const FailingMemory fails(0);
    draft.overwrite(decision, /*counts=*/false);
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  CHECK(thrown);
  CHECK_FALSE(draft.there());
  CHECK_FALSE(draft.changed());
}
