#include "keyway/kvstore/mpi/session_mpi.h"

namespace keyway::store {

template class Heap<fabric::MpiEndpoint>;
template class Session<fabric::MpiEndpoint>;

}  // namespace keyway::store
