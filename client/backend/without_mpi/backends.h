// The fabrics of a build without MPI.
#pragma once

#include <variant>

#include "keyway/client/backend.h"
#include "keyway/client/backend_remote.h"
#include "keyway/client/backend_shm.h"
#include "keyway/client/wire/uri.h"

namespace keyway::client {

using AnyBackend = std::variant<Backend<fabric::ShmFabric>, RemoteBackend>;
using AnySession = std::variant<std::unique_ptr<StoreSession<fabric::ShmFabric>>,
                                std::unique_ptr<remote::Session>>;

template <class Opened>
Result<AnyBackend> wrap(Result<Opened> opened) {
  if (!opened.ok()) return opened.status();
  return AnyBackend(std::move(*opened));
}

inline Result<AnyBackend> open_backend(std::string_view uri, const Result<ParsedUri>& parsed) {
  if (!parsed.ok()) return parsed.status();
  if (parsed->scheme == "mpi") {
    return Status(Code::kUnsupported,
                  "this build of Keyway has no MPI; configure with KEYWAY_MPI=mpich or openmpi");
  }
  if (wire::is_server_uri(uri)) return wrap(open_remote(uri, parsed->options));
  return wrap(open_shm(parsed->options));
}

}  // namespace keyway::client
