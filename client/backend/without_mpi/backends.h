// The fabrics of a build without MPI.
#pragma once

#include <variant>

#include "keyway/client/backend.h"
#include "keyway/client/backend_shm.h"

namespace keyway::client {

using AnyBackend = std::variant<Backend<fabric::ShmFabric>>;
using AnySession = std::variant<std::unique_ptr<StoreSession<fabric::ShmFabric>>>;

inline Result<AnyBackend> open_backend(std::string_view, const Result<ParsedUri>& parsed) {
  if (!parsed.ok()) return parsed.status();
  if (parsed->scheme == "mpi") {
    return Status(Code::kUnsupported,
                  "this build of Keyway has no MPI; configure with KEYWAY_MPI=mpich or openmpi");
  }
  auto opened = open_shm(parsed->options);
  if (!opened.ok()) return opened.status();
  return AnyBackend(std::move(*opened));
}

}  // namespace keyway::client
