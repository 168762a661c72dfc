#include "tests/store/sim/clocked_session.h"

#include "keyway/kvstore/session_impl.h"

namespace keyway::store {

template class KeyOperations<Session<test::ClockedEndpoint>>;
template class Session<test::ClockedEndpoint>;

}  // namespace keyway::store
