// The store over clocks that tests set, compiled once for all tests of it.
#pragma once

#include "keyway/kvstore/session.h"
#include "tests/store/sim/clocked_endpoint.h"

namespace keyway::store {

extern template class KeyOperations<Session<test::ClockedEndpoint>>;
extern template class Session<test::ClockedEndpoint>;

}  // namespace keyway::store
