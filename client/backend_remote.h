// The store of a server: `redis:`, `rediss:`, `unix:`. Internal.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/client/client.h"
#include "keyway/client/remote/servers.h"
#include "keyway/client/remote/session.h"

namespace keyway::client {

/// Shaped as Backend<Fabric>; what reaches the ranks are sockets, and the plan is the server's.
struct RemoteBackend {
  StoreOptions told;
  std::unique_ptr<remote::Servers> fabric;

  /// A session connects when it first has something to ask.
  Result<std::unique_ptr<remote::Session>> session(std::uint32_t) const {
    return std::make_unique<remote::Session>(*fabric);
  }
  std::uint32_t owner_of(std::string_view key) const { return fabric->slots.owner_of(key); }
  const StoreOptions& options() const { return told; }
  std::string describe() const;
};

Result<RemoteBackend> open_remote(std::string_view uri, const StoreOptions& options);

// One process: what is collective elsewhere is nothing here.
inline std::uint32_t process_of(const remote::Servers&) { return 0; }
inline std::uint32_t processes_of(const remote::Servers&) { return 1; }
inline void barrier(remote::Servers&) {}
inline std::vector<std::string> gather(remote::Servers&, std::string_view bytes) {
  return {std::string(bytes)};
}
inline std::vector<std::string> gather_everywhere(remote::Servers&, std::string_view bytes) {
  return {std::string(bytes)};
}
inline void notify_all(remote::Servers&) {}
inline bool notified(const remote::Servers&) { return false; }

}  // namespace keyway::client
