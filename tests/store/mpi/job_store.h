// A store of the variant under test, and the heap's account over the whole job.
#pragma once

#include "keyway/client/client.h"
#include "tests/store/accounting.h"
#include "tests/support/mpi_job.h"

namespace keyway::test {

/// Collective. `parameters` as in a URI: "memory=4MiB&lock=d-mcs".
inline Store open_job_store(const std::string& parameters) {
  const MpiVariant& variant = mpi_variant();
  std::string uri = "mpi:?timeout=60s&" + parameters;
  if (variant.force_rma) uri += "&force_rma=on";
  if (variant.ranks_per_node != 0) uri += named("&ranks_per_node=", variant.ranks_per_node);
  auto store = Store::open(uri);
  INFO(uri << ": " << store.status().message());
  REQUIRE(store.ok());
  return std::move(*store);
}

/// Collective, when every session is closed: process 0 walks all ranks.
inline void check_job_heap(Store& store) {
  store.barrier();
  if (store.process() == 0) {
    Session walker = session_of(store);
    check_heap(store, walker);
  }
  store.barrier();
}

}  // namespace keyway::test
