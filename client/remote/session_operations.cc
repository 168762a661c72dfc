// Session: the operations for which a server has no command of one step.

#include "keyway/client/remote/session.h"
#include "keyway/kvstore/key_operations_impl.h"

namespace keyway::store {

template class KeyOperations<remote::Session>;

}  // namespace keyway::store
