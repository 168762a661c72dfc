// The stores that kvload can put a load on, by URI scheme.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tools/kvload/job.h"

namespace keyway::kvload {

struct StoreKind {
  std::string_view scheme;  // "tbb"
  std::string_view form;    // "tbb:"
  std::string_view help;
  int (*run)(Job& job);  // opens the store, runs the job on it, returns the exit code
  bool of_job = false;   // all processes of mpirun open it together
};

// One function for each file of stores/; this build's list of them is CMake's.
std::span<const StoreKind> dht_stores();
std::span<const StoreKind> keyway_stores();
std::span<const StoreKind> rocksdb_stores();
std::span<const StoreKind> tbb_stores();

/// All stores of this build.
std::vector<StoreKind> store_kinds();
/// Nothing if the URI has no scheme, or one that is not known.
std::optional<StoreKind> find_store(std::string_view uri);

}  // namespace keyway::kvload
