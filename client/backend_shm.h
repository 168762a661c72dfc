// The embedded store: `local:`. Internal.
#pragma once

#include <string>
#include <vector>

#include "keyway/client/backend.h"
#include "keyway/kvstore/session_shm.h"

namespace keyway::client {

Result<Backend<fabric::ShmFabric>> open_shm(const StoreOptions& options);

// One process: what is collective elsewhere is nothing here.
inline std::uint32_t process_of(const fabric::ShmFabric&) { return 0; }
inline std::uint32_t processes_of(const fabric::ShmFabric&) { return 1; }
inline void barrier(fabric::ShmFabric&) {}
inline std::vector<std::string> gather(fabric::ShmFabric&, std::string_view bytes) {
  return {std::string(bytes)};
}
inline std::vector<std::string> gather_everywhere(fabric::ShmFabric&, std::string_view bytes) {
  return {std::string(bytes)};
}
inline void notify_all(fabric::ShmFabric&) {}
inline bool notified(const fabric::ShmFabric&) { return false; }

}  // namespace keyway::client
