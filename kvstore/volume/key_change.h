// KeyChange: the parts of one change of one key, as every change passes one place.
//
// *Thread safety.* Views that end with the call that is shown it; the key's stripe is locked.
#pragma once

#include <string_view>

#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/kvstore/volume/found.h"

namespace keyway::store {

struct KeyChange {
  const Location& location;
  std::string_view key;
  /// Its `at` is 0 if the key is new. Sizes and expiry are those before the change; the value may
  /// show the new bytes already, if a local element changed in place.
  const Found& before;
  /// kWrite or kOverwrite; null: the element goes.
  const Decision* after;
};

}  // namespace keyway::store
