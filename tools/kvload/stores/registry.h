// The stores that kvload can put a load on, by URI scheme.
#pragma once

#include <span>
#include <string_view>

#include "tools/kvload/job.h"

namespace keyway::kvload {

struct StoreKind {
  std::string_view scheme;  // "tbb"
  std::string_view form;    // "tbb:"
  std::string_view help;
  int (*run)(Job& job);  // opens the store, runs the job on it, returns the exit code
};

int run_on_keyway(Job& job);
int run_on_rocksdb(Job& job);
int run_on_tbb(Job& job);

inline std::span<const StoreKind> store_kinds() {
  static constexpr StoreKind kKinds[] = {
      {"local", "local:", "Keyway in this process (local:?ranks=N for N volumes)", run_on_keyway},
      {"mpi", "mpi:", "Keyway over all processes of mpirun.mpich, one-sided", run_on_keyway},
      {"redis", "redis://H:P", "a server at host H, port P: keywayd, or any that speaks RESP",
       run_on_keyway},
      {"rediss", "rediss://H:P", "the same over TLS (?tls_ca=FILE)", run_on_keyway},
      {"unix", "unix:/PATH", "the same over a Unix socket", run_on_keyway},
      {"tbb", "tbb:", "oneTBB's concurrent_hash_map in this process, a baseline", run_on_tbb},
      {"rocksdb", "rocksdb:PATH", "a RocksDB database at PATH, a baseline", run_on_rocksdb},
  };
  return kKinds;
}

}  // namespace keyway::kvload
