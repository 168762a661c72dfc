#include "keyway/client/remote/servers.h"

#include <fmt/core.h>

#include <string>

#include "keyway/client/wire/connection.h"

namespace keyway::remote {
namespace {

/// A key that the server with this index owns.
std::string key_of(const SlotMap& slots, std::uint32_t index) {
  for (std::uint32_t i = 0;; ++i) {
    std::string key = fmt::format("keyway:{}", i);
    if (slots.owner_of(key) == index) return key;
  }
}

/// Asks for two keys at once that two servers own.
Result<bool> serves_all(wire::Connection& connection, const SlotMap& slots) {
  const std::string mine = key_of(slots, 0);
  const std::string other = key_of(slots, 1);
  const auto reply = connection.ask({"EXISTS", mine, other});
  if (!reply.ok()) return reply.status();
  return reply->front().kind == resp::Kind::kInteger;
}

}  // namespace

Result<Servers> Servers::find(const wire::Options& options) {
  auto connection = wire::Connection::open(options);
  if (!connection.ok()) return connection.status();
  Servers servers{.options = options, .slots = {}};
  const Server asked{options.host, options.port};
  servers.slots.index_of(asked);
  if (!options.path.empty()) return servers;  // others cannot be reached by such a path
  const auto reply = connection->ask({"CLUSTER", "SLOTS"});
  if (!reply.ok()) return reply.status();
  auto slots = SlotMap::parse(*reply, asked);  // an error: it is alone
  if (!slots || slots->has_one()) return servers;
  const auto all = serves_all(*connection, *slots);
  if (!all.ok()) return all.status();
  servers.slots = std::move(*slots);
  servers.any_serves_all = *all;
  return servers;
}

wire::Options Servers::options_of(const Server& server) const {
  wire::Options there = options;
  if (server == Server{options.host, options.port}) return there;
  there.path.clear();
  there.host = server.host;
  there.port = server.port;
  return there;
}

}  // namespace keyway::remote
