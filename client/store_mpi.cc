#include "keyway/client/mpi.h"
#include "keyway/client/store_impl.h"

namespace keyway {

Result<Store> open_over(MPI_Comm comm, std::string_view uri, StoreOptions options) {
  auto backend = client::MpiBackend::open_over(comm, parse_store_uri(uri, std::move(options)));
  if (!backend.ok()) return backend.status();
  return client::StoreMaker::make(client::AnyBackend(std::move(*backend)));
}

}  // namespace keyway
