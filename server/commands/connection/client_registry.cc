#include "keyway/server/commands/connection/client_registry.h"

namespace keyway::server {

void ClientRegistry::add(std::shared_ptr<ClientInfo> info) {
  const MutexLock held(mutex_);
  const std::uint64_t id = info->id;
  clients_.emplace(id, std::move(info));
}

void ClientRegistry::remove(std::uint64_t id) {
  const MutexLock held(mutex_);
  clients_.erase(id);
}

void ClientRegistry::rename(ClientInfo& info, std::string_view name) {
  const MutexLock held(mutex_);
  info.name = name;
}

}  // namespace keyway::server
