// The embedded store: `local:`. Internal.
#pragma once

#include <string_view>

#include "keyway/client/backend.h"
#include "keyway/kvstore/session_shm.h"

namespace keyway::client {

struct ShmBackend : FabricBackend<fabric::ShmFabric>, OneProcess {
  static bool serves(std::string_view uri) { return uri.starts_with("local:"); }
  static Result<ShmBackend> open(std::string_view uri, const Result<ParsedUri>& parsed);
};

}  // namespace keyway::client
