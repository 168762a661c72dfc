// The store on the shm fabric is compiled once, in session_shm.cc.
#pragma once

#include "keyway/kvstore/session.h"
#include "keyway/locks/fabric/shm/shm_fabric.h"

namespace keyway::store {

extern template class KeyOperations<Session<fabric::ShmEndpoint>>;
extern template class Session<fabric::ShmEndpoint>;

}  // namespace keyway::store
