// The store of a server: `redis:`, `rediss:`, `unix:`. Internal.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "keyway/client/backend.h"
#include "keyway/client/remote/servers.h"
#include "keyway/client/remote/session.h"

namespace keyway::client {

/// Sockets reach the ranks, and the plan is the server's.
struct RemoteBackend : OneProcess {
  using Session = remote::Session;

  RemoteBackend(StoreOptions options, std::unique_ptr<remote::Servers> servers)
      : store_options(std::move(options)), fabric(std::move(servers)) {}
  static bool serves(std::string_view uri);
  static Result<RemoteBackend> open(std::string_view uri, const Result<ParsedUri>& parsed);

  /// A session connects when it first has something to ask.
  Result<std::unique_ptr<remote::Session>> session(std::uint32_t) const {
    return std::make_unique<remote::Session>(*fabric);
  }
  std::uint32_t owner_of(std::string_view key) const { return fabric->slots.owner_of(key); }
  const StoreOptions& options() const { return store_options; }
  std::string describe() const;

  StoreOptions store_options;
  std::unique_ptr<remote::Servers> fabric;
};

}  // namespace keyway::client
