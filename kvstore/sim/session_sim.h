// The store on the sim fabric is compiled once, in session_sim.cc.
#pragma once

#include "keyway/kvstore/owner_service.h"
#include "keyway/kvstore/session.h"
#include "keyway/locks/fabric/sim/sim_endpoint.h"

namespace keyway::store {

extern template class KeyOperations<Session<fabric::SimEndpoint>>;
extern template class Session<fabric::SimEndpoint>;
extern template class OwnerService<fabric::SimEndpoint>;

}  // namespace keyway::store
