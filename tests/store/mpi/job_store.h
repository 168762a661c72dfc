// A store of the variant under test, and the heap's account over the whole job.
#pragma once

#include <thread>

#include "keyway/client/client.h"
#include "keyway/locks/base/clock.h"
#include "tests/store/accounting.h"
#include "tests/support/mpi_job.h"

namespace keyway::test {

/// Collective. `parameters` as in a URI: "memory=4MiB&lock=d-mcs".
inline Store open_job_store(const std::string& parameters) {
  const MpiVariant& variant = mpi_variant();
  std::string uri = "mpi:?timeout=60s&" + parameters;  // a later parameter wins
  if (variant.force_rma) uri += "&force_rma=on";
  if (variant.ranks_per_node != 0) uri += named("&ranks_per_node=", variant.ranks_per_node);
  auto store = Store::open(uri);
  INFO(uri << ": " << store.status().message());
  REQUIRE(store.ok());
  return std::move(*store);
}

/// Owners return the blocks that they have leased for others' edits soon after the last of these.
inline void wait_for_owners(Store& store, Session& walker) {
  const auto leased = [&](std::uint32_t rank) {
    const auto report = walker.inspector().report(rank);
    if (!report.ok()) return false;
    const std::uint64_t known = report->live_bytes + report->heap.free_bytes;
    return known + walker.inspector().leased_bytes(rank) != report->heap.heap_bytes;
  };
  const std::uint64_t until = steady_ns() + 10'000'000'000;
  for (std::uint32_t rank = 0; rank < store.ranks(); ++rank) {
    while (leased(rank) && steady_ns() < until) std::this_thread::yield();
  }
}

inline void check_heap_at_rest(Store& store, Session& walker) {
  wait_for_owners(store, walker);
  check_heap(store, walker);
}

/// Collective, when every session is closed: process 0 walks all ranks.
inline void check_job_heap(Store& store) {
  store.barrier();
  if (store.process() == 0) {
    Session walker = session_of(store);
    check_heap_at_rest(store, walker);
  }
  store.barrier();
}

}  // namespace keyway::test
