#include "keyway/client/backend_remote.h"

#include <fmt/core.h>

#include "keyway/client/wire/uri.h"

namespace keyway::client {

bool RemoteBackend::serves(std::string_view uri) { return wire::is_server_uri(uri); }

Result<RemoteBackend> RemoteBackend::open(std::string_view uri, const Result<ParsedUri>& parsed) {
  if (!parsed.ok()) return parsed.status();
  const StoreOptions& options = parsed->options;
  wire::Options defaults;
  defaults.password = options.password;
  defaults.request_timeout = options.timeout;
  const auto server = wire::parse_server_uri(uri, defaults);
  if (!server.ok()) return server.status();
  auto servers = remote::Servers::find(*server);
  if (!servers.ok()) return servers.status();
  return RemoteBackend(options, std::make_unique<remote::Servers>(std::move(*servers)));
}

std::string RemoteBackend::describe() const {
  const std::string first = wire::text_of(fabric->options);
  if (fabric->ranks() == 1) return fmt::format("the server at {}", first);
  return fmt::format("{} servers, one of them at {}; {}", fabric->ranks(), first,
                     fabric->any_serves_all ? "any serves any key" : "each serves its own keys");
}

}  // namespace keyway::client
