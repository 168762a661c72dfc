#include "keyway/kvstore/sim/session_sim.h"

#include "keyway/kvstore/owner_service_impl.h"
#include "keyway/kvstore/session_impl.h"

namespace keyway::store {

template class Heap<fabric::SimEndpoint>;
template class KeyOperations<Session<fabric::SimEndpoint>>;
template class Session<fabric::SimEndpoint>;
template class OwnerService<fabric::SimEndpoint>;

}  // namespace keyway::store
