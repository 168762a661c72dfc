#include "keyway/kvstore/mpi/session_mpi.h"

#include "keyway/kvstore/owner_service_impl.h"
#include "keyway/kvstore/session_impl.h"

namespace keyway::store {

template class Heap<fabric::MpiEndpoint>;
template class KeyOperations<Session<fabric::MpiEndpoint>>;
template class Session<fabric::MpiEndpoint>;
template class OwnerService<fabric::MpiEndpoint>;

}  // namespace keyway::store
