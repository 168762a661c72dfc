// The fabrics of a build with MPI.
#pragma once

#include <variant>

#include "keyway/client/backend.h"
#include "keyway/client/backend_mpi.h"
#include "keyway/client/backend_remote.h"
#include "keyway/client/backend_shm.h"
#include "keyway/client/wire/uri.h"

namespace keyway::client {

using AnyBackend =
    std::variant<Backend<fabric::ShmFabric>, RemoteBackend, Backend<fabric::MpiFabric>>;
using AnySession =
    std::variant<std::unique_ptr<StoreSession<fabric::ShmFabric>>, std::unique_ptr<remote::Session>,
                 std::unique_ptr<StoreSession<fabric::MpiFabric>>>;

template <class Opened>
Result<AnyBackend> wrap(Result<Opened> opened) {
  if (!opened.ok()) return opened.status();
  return AnyBackend(std::move(*opened));
}

/// A bad mpi: URI goes to MPI all the same: the other processes must hear of it.
inline Result<AnyBackend> open_backend(std::string_view uri, const Result<ParsedUri>& parsed) {
  if (uri.starts_with("mpi:")) return wrap(open_mpi(MPI_COMM_WORLD, parsed));
  if (!parsed.ok()) return parsed.status();
  if (wire::is_server_uri(uri)) return wrap(open_remote(uri, parsed->options));
  return wrap(open_shm(parsed->options));
}

}  // namespace keyway::client
