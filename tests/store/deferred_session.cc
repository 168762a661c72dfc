#include "tests/store/deferred_session.h"

#include "keyway/kvstore/session_impl.h"

namespace keyway::store {

template class KeyOperations<Session<conformance::DeferredEndpoint>>;
template class Session<conformance::DeferredEndpoint>;

}  // namespace keyway::store
