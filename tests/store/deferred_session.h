// The store on the fabric whose posted operations are late, compiled once for all tests of it.
#pragma once

#include "keyway/kvstore/session.h"
#include "tests/conformance/deferred_fabric.h"

namespace keyway::store {

extern template class Heap<conformance::DeferredEndpoint>;
extern template class Session<conformance::DeferredEndpoint>;

}  // namespace keyway::store

namespace keyway::test {

using LazySession = store::Session<conformance::DeferredEndpoint>;

}  // namespace keyway::test
