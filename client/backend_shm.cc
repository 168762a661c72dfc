#include "keyway/client/backend_shm.h"

#include <algorithm>

namespace keyway::client {

Result<ShmBackend> ShmBackend::open(std::string_view, const Result<ParsedUri>& parsed) {
  if (!parsed.ok()) return parsed.status();
  const StoreOptions& options = parsed->options;
  const auto secret = hash_secret_of(options);
  if (!secret.ok()) return secret.status();
  auto plan = Plan::make(options, std::max(options.ranks, 1u), 1, *secret);
  if (!plan.ok()) return plan.status();
  auto fabric = fabric::ShmFabric::create({.ranks = options.ranks,
                                           .segment_bytes = (*plan)->geometry.segment_bytes(),
                                           .agents_per_rank = options.sessions,
                                           .topology = options.topology});
  if (!fabric.ok()) return fabric.status();
  if (auto status = measure(*fabric, (*plan)->geometry, (*plan)->policy); !status.ok()) {
    return status;
  }
  return ShmBackend{{std::move(*plan), std::make_unique<fabric::ShmFabric>(std::move(*fabric))},
                    {}};
}

}  // namespace keyway::client
