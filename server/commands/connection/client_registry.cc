#include "keyway/server/commands/connection/client_registry.h"

namespace keyway::server {

void ClientRegistry::add(std::shared_ptr<ClientCard> card) {
  const MutexLock held(mutex_);
  const std::uint64_t id = card->id;
  cards_.emplace(id, std::move(card));
}

void ClientRegistry::remove(std::uint64_t id) {
  const MutexLock held(mutex_);
  cards_.erase(id);
}

void ClientRegistry::rename(ClientCard& card, std::string_view name) {
  const MutexLock held(mutex_);
  card.name = name;
}

}  // namespace keyway::server
