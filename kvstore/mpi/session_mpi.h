// The store on the mpi fabric is compiled once, in session_mpi.cc.
#pragma once

#include "keyway/kvstore/owner_service.h"
#include "keyway/kvstore/session.h"
#include "keyway/locks/fabric/mpi/mpi_endpoint.h"

namespace keyway::store {

extern template class KeyOperations<Session<fabric::MpiEndpoint>>;
extern template class Session<fabric::MpiEndpoint>;
extern template class OwnerService<fabric::MpiEndpoint>;

}  // namespace keyway::store
