#include "keyway/kvstore/session_shm.h"

#include "keyway/kvstore/session_impl.h"

namespace keyway::store {

template class Heap<fabric::ShmEndpoint>;
template class KeyOperations<Session<fabric::ShmEndpoint>>;
template class Session<fabric::ShmEndpoint>;

}  // namespace keyway::store
